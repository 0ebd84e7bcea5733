import { project } from '../../jest.preset.mjs';

export default project('client', import.meta.url);
