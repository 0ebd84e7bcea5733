import { project } from '../../../jest.preset.mjs';

export default project('shipments', import.meta.url);
