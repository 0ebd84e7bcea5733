import TestSequencer from '@jest/test-sequencer';

/** What takes longest begins first, by the last run as usual; suites that run together also where there was none. */
export default class Sequencer extends TestSequencer {
  sort(tests) {
    const isTogether = ({ path }) => /[\\/]together[\\/]/.test(path);
    const sorted = super.sort(tests);
    return [...sorted.filter(isTogether), ...sorted.filter((test) => !isTogether(test))];
  }
}
