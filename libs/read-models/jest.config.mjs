import { project } from '../../jest.preset.mjs';

export default project('read-models', import.meta.url);
