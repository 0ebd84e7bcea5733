import Sequencer from '@jest/test-sequencer';

/** Suites in the order in which they begin: the longest one, then users of the shared services side by side. */
const FIRST = [
  'own-services',
  'services',
  'browser/webhooks',
  'browser/shipment-import',
  'browser/shipment-journey',
  'standalone',
  'browser/pages',
];

export default class E2eSequencer extends Sequencer {
  sort(tests) {
    const place = ({ path }) => {
      const found = FIRST.findIndex((name) => path.endsWith(`/${name}.e2e.spec.ts`));
      return found < 0 ? FIRST.length : found;
    };
    return [...tests].sort((one, other) => place(one) - place(other) || (one.path < other.path ? -1 : 1));
  }
}
