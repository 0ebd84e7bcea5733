import { project } from '../../../jest.preset.mjs';

export default project('webhooks-domain', import.meta.url);
