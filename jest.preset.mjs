import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const swc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));
delete swc.$schema;
delete swc.exclude;
delete swc.jsc.rewriteRelativeImportExtensions;

/** The Jest project of one library or app: TypeScript sources through swc, as ES modules. */
export function project(displayName, configUrl) {
  return {
    displayName,
    rootDir: dirname(fileURLToPath(configUrl)),
    testEnvironment: 'node',
    testEnvironmentOptions: { customExportConditions: ['@tracking/source', 'node', 'node-addons'] },
    testMatch: ['<rootDir>/{src,test}/**/*.spec.ts'],
    testPathIgnorePatterns: ['/node_modules/', '/dist/'],
    modulePathIgnorePatterns: ['/dist/'],
    extensionsToTreatAsEsm: ['.ts'],
    transform: { '^.+\\.ts$': ['@swc/jest', { ...swc, swcrc: false }] },
  };
}
