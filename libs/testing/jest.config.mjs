import { project } from '../../jest.preset.mjs';

export default project('testing', import.meta.url);
