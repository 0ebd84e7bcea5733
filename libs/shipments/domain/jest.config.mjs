import { project } from '../../../jest.preset.mjs';

export default project('shipments-domain', import.meta.url);
