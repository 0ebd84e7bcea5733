import { project } from '../../../jest.preset.mjs';

export default project('outbound-http', import.meta.url);
