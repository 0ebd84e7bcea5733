import Sequencer from '@jest/test-sequencer';

/** Paths of the slowest suites, which run first. */
const FIRST = ['distributed', 'standalone', 'browser/pages', 'large-shipments', 'browser/roles'];

export default class E2eSequencer extends Sequencer {
  sort(tests) {
    const place = ({ path }) => {
      const found = FIRST.findIndex((name) => path.endsWith(`/${name}.e2e.spec.ts`));
      return found < 0 ? FIRST.length : found;
    };
    return [...tests].sort((one, other) => place(one) - place(other) || (one.path < other.path ? -1 : 1));
  }
}
