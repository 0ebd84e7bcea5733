import { project } from '../jest.preset.mjs';

export default project('bench', import.meta.url);
