import { project } from '../../../jest.preset.mjs';

export default project('distributed', import.meta.url);
