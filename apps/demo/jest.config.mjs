import { project } from '../../jest.preset.mjs';

export default project('demo', import.meta.url);
