import { project } from '../../jest.preset.mjs';

export default project('runtime', import.meta.url);
