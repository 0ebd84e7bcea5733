import { project } from '../../jest.preset.mjs';

export default project('webhooks-service', import.meta.url);
