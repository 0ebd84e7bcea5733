import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = import.meta.dirname;
const E2E_SUITES = process.env.SOAK === 'true' ? '*.{e2e,soak}.spec.ts' : '*.e2e.spec.ts';

// Compile cache of threads and processes that tests start. Without it, each compiles its modules again, a third of all work.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/node-compile-cache');

/** Jest projects: one for every workspace with tests, named after its package, and one for `tools`. */
export default {
  projects: [...workspaces().flatMap(project), configOf('tools', 'tools')],
  passWithNoTests: false,
};

function workspaces() {
  const { workspaces } = readJson(join(root, 'package.json'));
  return workspaces.flatMap((pattern) => {
    if (!pattern.endsWith('/*')) return [pattern];
    const parent = dirname(pattern);
    return readdirSync(join(root, parent)).map((name) => `${parent}/${name}`);
  });
}

function project(folder) {
  const manifest = join(root, folder, 'package.json');
  if (!existsSync(manifest) || !hasTests(join(root, folder))) return [];
  const { name, dependencies, devDependencies } = readJson(manifest);
  const displayName = name.replace('@tracking/', '');
  const config = configOf(displayName, folder);
  if ('@tracking/embedded' in { ...dependencies, ...devDependencies }) {
    config.setupFilesAfterEnv.push(join(root, 'libs/adapters/embedded/test/expect-good-queries.ts'));
  }
  if (displayName === 'e2e') {
    config.testMatch = [`<rootDir>/test/**/${E2E_SUITES}`];
    config.globalSetup = '<rootDir>/test/global-setup.mjs';
    config.globalTeardown = '<rootDir>/test/global-teardown.mjs';
  }
  return [config];
}

function configOf(displayName, folder) {
  return {
    displayName,
    rootDir: join(root, folder),
    setupFilesAfterEnv: [join(root, 'tools/jest-prints-nothing.mjs')],
    testEnvironment: join(root, 'tools/jest-environment.mjs'),
    runtime: join(root, 'tools/jest-runtime.mjs'),
    testMatch: ['<rootDir>/{src,test}/**/*.spec.ts'],
    testPathIgnorePatterns: ['/node_modules/', '/dist/'],
    modulePathIgnorePatterns: ['/dist/'],
    extensionsToTreatAsEsm: ['.ts'],
    transform: {},
  };
}

function hasTests(folder) {
  return ['src', 'test'].some((name) => {
    const path = join(folder, name);
    return existsSync(path) && readdirSync(path, { recursive: true }).some((file) => file.endsWith('.spec.ts'));
  });
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
