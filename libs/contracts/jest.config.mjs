import { project } from '../../jest.preset.mjs';

export default project('contracts', import.meta.url);
