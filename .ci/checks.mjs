// The checks of .ci/run, which has installed and built everything before.
import { findEngines } from './engines.mjs';
import { runSteps } from './steps.mjs';

const engines = findEngines();
const times = '--reporters=default --reporters="$PWD/.ci/times.mjs"';

const tests = {
  name: 'Tests, which must print nothing',
  command: `npm test --silent -- ${times} 2>&1 | node .ci/prints-nothing.mjs`,
};
const faults = {
  name: 'Crashes and faults',
  command: `npm run --silent test:faults -- ${times} 2>&1 | node .ci/prints-nothing.mjs`,
};
const e2e = {
  name: 'End-to-end journeys and faults of standalone and of two replicas of each service, and pages in a browser',
  command: `npm run --silent e2e -- ${times}`,
};
const conformance = {
  name: 'Conformance and faults with engines that are killed and hung',
  command: `ENGINES_DIR="${engines.folder}" npm run --silent conformance -- --testPathPatterns 'distributed/src/(kafka|mongodb)/.*\\.(int|faults)\\.spec' --reporters="$PWD/.ci/times.mjs"`,
  skipped: engines.missing,
};
const documents = [
  { name: "The README's quick start, run literally", command: '.ci/quick-start' },
  { name: 'The guides, run literally', command: 'node .ci/guides.mjs' },
  { name: 'Webhook receivers in the available languages', command: 'node .ci/verification.mjs' },
  { name: 'The Python client, with a service', command: 'node .ci/python-client.mjs' },
  { name: 'The clients for Go and Java, with a service', command: 'node .ci/go-java-clients.mjs' },
];
const sources = [
  {
    name: 'Lint, module boundaries, links and the description of the API',
    // Without a graph of the projects, the boundary rule would accept every import.
    command: `npm run --silent lint
      if echo "import '@tracking/embedded';" | eslint --stdin --stdin-filename apps/gateway/src/main.ts >/dev/null; then
        echo 'an import across a boundary was not refused'
        exit 1
      fi
      node --test --test-reporter=dot .ci/check-links.test.mjs`,
  },
  { name: 'Types', command: 'npm run --silent typecheck' },
  { name: 'Generated clients, with a service', command: 'node .ci/generated-clients.mjs' },
  { name: 'Format', command: 'npm run --silent format:check' },
];

// Steps that keep two cores busy run alone. Suites of faults mostly wait, so other steps run beside them.
await runSteps(
  [
    { lanes: 2, steps: sources },
    { lanes: 1, steps: [tests] },
    { lanes: 2, steps: [faults, conformance, ...documents] },
    { lanes: 1, steps: [e2e] },
  ],
  Number(process.env.STARTED_MS),
);
