import { project } from '../../jest.preset.mjs';

const usual = project('http-api', import.meta.url);
const OWN = '<rootDir>/src/**/*.spec.ts';

/** `npm test` runs the suites of `test` together; where its last word is a path, and elsewhere, each is one of its own. */
const isTogether = process.env.npm_lifecycle_event === 'test' && process.argv.at(-1).startsWith('-');

export default {
  ...usual,
  testMatch: [OWN, isTogether ? '<rootDir>/test/together/*.spec.ts' : '<rootDir>/test/*.spec.ts'],
};
