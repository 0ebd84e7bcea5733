import { project } from '../../jest.preset.mjs';

export default project('web', import.meta.url);
