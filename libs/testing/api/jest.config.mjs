import { project } from '../../../jest.preset.mjs';

export default project('api-tests', import.meta.url);
