import { project } from '../../jest.preset.mjs';

export default project('receiver', import.meta.url);
