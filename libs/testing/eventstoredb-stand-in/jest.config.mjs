import { project } from '../../../jest.preset.mjs';

export default project('eventstoredb-stand-in', import.meta.url);
