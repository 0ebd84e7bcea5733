import { project } from '../../jest.preset.mjs';

export default project('standalone', import.meta.url);
