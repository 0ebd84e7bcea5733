import { project } from '../../jest.preset.mjs';

export default project('cli', import.meta.url);
