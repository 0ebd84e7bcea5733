import { project } from '../../jest.preset.mjs';

export default project('projections-service', import.meta.url);
