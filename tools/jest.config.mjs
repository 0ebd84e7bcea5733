import { project } from '../jest.preset.mjs';

export default project('tools', import.meta.url);
