import { project } from '../../jest.preset.mjs';

export default project('administration', import.meta.url);
