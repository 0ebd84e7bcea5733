import { project } from '../../../jest.preset.mjs';

export default project('shipments-http', import.meta.url);
