import { project } from '../../jest.preset.mjs';

export default project('gateway', import.meta.url);
