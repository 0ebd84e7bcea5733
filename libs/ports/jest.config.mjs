import { project } from '../../jest.preset.mjs';

export default project('ports', import.meta.url);
