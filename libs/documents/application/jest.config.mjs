import { project } from '../../../jest.preset.mjs';

export default project('documents', import.meta.url);
