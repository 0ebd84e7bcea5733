import { project } from '../../jest.preset.mjs';

export default project('e2e', import.meta.url);
