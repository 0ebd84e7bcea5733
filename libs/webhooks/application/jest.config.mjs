import { project } from '../../../jest.preset.mjs';

export default project('webhooks', import.meta.url);
