import { project } from '../../jest.preset.mjs';

export default project('workspace-settings', import.meta.url);
