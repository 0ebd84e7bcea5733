import { project } from '../../../jest.preset.mjs';

// Processes are started, killed and traced here: on a busy machine that takes its time.
export default { ...project('embedded', import.meta.url), testTimeout: 60_000 };
