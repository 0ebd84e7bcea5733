import { project } from '../../../jest.preset.mjs';

export default project('identity', import.meta.url);
