import { project } from '../../jest.preset.mjs';

export default project('service', import.meta.url);
