import { project } from '../../jest.preset.mjs';

export default project('shipments-service', import.meta.url);
