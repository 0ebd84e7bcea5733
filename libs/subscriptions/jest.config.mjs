import { project } from '../../jest.preset.mjs';

export default project('subscriptions', import.meta.url);
