import { project } from '../../../jest.preset.mjs';

export default project('identity-http', import.meta.url);
