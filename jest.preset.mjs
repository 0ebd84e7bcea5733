import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

// Threads and processes that tests start: without it, each strips and compiles its modules anew, which was a third of all work.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/node-compile-cache', import.meta.url));

const file = (path) => fileURLToPath(new URL(path, import.meta.url));
const PRINTS_NOTHING = file('tools/jest-prints-nothing.mjs');
const GOOD_QUERIES = file('libs/adapters/embedded/test/expect-good-queries.ts');

/** The Jest project of one library or app. */
export function project(displayName, configUrl) {
  const manifest = new URL('package.json', configUrl);
  const { dependencies, devDependencies } = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {};
  const storesDocuments = '@tracking/embedded' in { ...dependencies, ...devDependencies };
  return {
    displayName,
    setupFilesAfterEnv: storesDocuments ? [PRINTS_NOTHING, GOOD_QUERIES] : [PRINTS_NOTHING],
    rootDir: dirname(fileURLToPath(configUrl)),
    testEnvironment: file('tools/jest-environment.mjs'),
    runtime: file('tools/jest-runtime.mjs'),
    testMatch: ['<rootDir>/{src,test}/**/*.spec.ts'],
    testPathIgnorePatterns: ['/node_modules/', '/dist/'],
    modulePathIgnorePatterns: ['/dist/'],
    extensionsToTreatAsEsm: ['.ts'],
    transform: {},
  };
}
