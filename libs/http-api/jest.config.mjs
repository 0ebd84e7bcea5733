import { project } from '../../jest.preset.mjs';

export default project('http-api', import.meta.url);
