import { project } from '../../../jest.preset.mjs';

export default project('documents-http', import.meta.url);
