import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const swc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));
delete swc.$schema;
delete swc.exclude;
delete swc.jsc.rewriteRelativeImportExtensions;

// Threads and processes that tests start: without it, each strips and compiles its modules anew, which was a third of all work.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/node-compile-cache', import.meta.url));

const PRINTS_NOTHING = fileURLToPath(new URL('tools/jest-prints-nothing.mjs', import.meta.url));
const ENVIRONMENT = fileURLToPath(new URL('tools/jest-environment.mjs', import.meta.url));
const WATCHED_QUERIES = fileURLToPath(new URL('libs/adapters/embedded/test/watched-queries.ts', import.meta.url));

/** The Jest project of one library or app: TypeScript sources through swc, as ES modules. */
export function project(displayName, configUrl) {
  const manifest = new URL('package.json', configUrl);
  const { dependencies, devDependencies } = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {};
  const storesDocuments = '@tracking/embedded' in { ...dependencies, ...devDependencies };
  return {
    displayName,
    setupFilesAfterEnv: storesDocuments ? [PRINTS_NOTHING, WATCHED_QUERIES] : [PRINTS_NOTHING],
    rootDir: dirname(fileURLToPath(configUrl)),
    testEnvironment: ENVIRONMENT,
    testEnvironmentOptions: { customExportConditions: ['@tracking/source', 'node', 'node-addons'] },
    testMatch: ['<rootDir>/{src,test}/**/*.spec.ts'],
    testPathIgnorePatterns: ['/node_modules/', '/dist/'],
    modulePathIgnorePatterns: ['/dist/'],
    extensionsToTreatAsEsm: ['.ts'],
    transform: { '^.+\\.ts$': ['@swc/jest', { ...swc, swcrc: false }] },
  };
}
