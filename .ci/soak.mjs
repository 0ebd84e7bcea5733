// Runs every suite in its long form: all rounds of properties, repeated kills, the full matrix of pages. Takes some
// hours. Run it before completing a change to storage, adapters, subscriptions or delivery. Usage: npm run soak
import { findEngines } from './engines.mjs';
import { runSteps } from './steps.mjs';

process.env.SOAK = 'true';
process.env.PROPERTY_ROUNDS ??= 'all';
const engines = findEngines();
if (engines.missing === undefined) process.env.ENGINES_DIR = engines.folder;
const times = '--reporters=default --reporters="$PWD/.ci/times.mjs"';

await runSteps([
  {
    lanes: 1,
    steps: [
      { name: 'Tests', command: `npm test --silent -- ${times}` },
      { name: 'Crashes and faults', command: `npm run --silent test:faults -- ${times}` },
      { name: 'Suites that only run in soak', command: `npm run --silent test:soak -- ${times}` },
      {
        name: 'Conformance on engines',
        command: `npm run --silent conformance -- --reporters="$PWD/.ci/times.mjs"`,
        skipped: engines.missing,
      },
      { name: 'Journeys, faults and pages', command: `npm run --silent e2e -- ${times}` },
    ],
  },
]);
