import { project } from '../../../jest.preset.mjs';

export default project('places', import.meta.url);
