import { project } from '../../../jest.preset.mjs';

export default project('embedded', import.meta.url);
