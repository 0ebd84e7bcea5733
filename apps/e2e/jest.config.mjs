import { project } from '../../jest.preset.mjs';

const suites = process.env.SOAK === 'true' ? '*.{e2e,soak}.spec.ts' : '*.e2e.spec.ts';

export default {
  ...project('e2e', import.meta.url),
  testMatch: [`<rootDir>/test/**/${suites}`],
  globalSetup: '<rootDir>/test/global-setup.mjs',
  globalTeardown: '<rootDir>/test/global-teardown.mjs',
};
