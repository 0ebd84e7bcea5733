import { project } from '../../../jest.preset.mjs';

export default project('webhooks-http', import.meta.url);
