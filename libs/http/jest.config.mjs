import { project } from '../../jest.preset.mjs';

export default project('http', import.meta.url);
