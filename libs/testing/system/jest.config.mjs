import { project } from '../../../jest.preset.mjs';

export default project('system', import.meta.url);
