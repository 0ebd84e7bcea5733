import { project } from '../../jest.preset.mjs';

export default project('services', import.meta.url);
