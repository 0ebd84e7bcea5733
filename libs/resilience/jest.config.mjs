import { project } from '../../jest.preset.mjs';

export default project('resilience', import.meta.url);
