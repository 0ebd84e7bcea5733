import { spawnSync } from 'node:child_process';

const SLOWEST_TESTS = 10;
/** No test takes as long: a suite that prints nothing for so long stands still, and would keep CI until it is ended from outside. */
const STANDS_STILL_MS = 12 * 60_000;
const seconds = (ms) => (ms / 1_000).toFixed(1).padStart(7);

/**
 * A Jest reporter: ends a run that stands still, and names its suites under way. Prints at the end how long each suite took, in
 * seconds, the slowest tests, and the tests that were skipped, whose titles give the reason.
 */
export default class Times {
  #underWay = new Set();
  #watch;

  onRunStart() {
    this.#moved();
  }

  onTestFileStart({ path }) {
    this.#underWay.add(path);
    this.#moved();
  }

  onTestCaseResult() {
    this.#moved();
  }

  onTestFileResult({ path }) {
    this.#underWay.delete(path);
    this.#moved();
  }

  #moved() {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => {
      process.stderr.write(`\nStands still: ${[...this.#underWay].join(', ')}\n`);
      // Its workers too: one that is busy for ever does not notice that nobody listens.
      spawnSync('pkill', ['-KILL', '-P', String(process.pid)]);
      process.exit(1);
    }, STANDS_STILL_MS);
    this.#watch.unref();
  }

  onRunComplete(_contexts, { testResults }) {
    clearTimeout(this.#watch);
    const suites = testResults
      .filter(({ skipped }) => !skipped)
      .map(({ perfStats, testFilePath }) => [perfStats.runtime, testFilePath.replace(`${process.cwd()}/`, '')]);
    const tests = testResults
      .flatMap((suite) => suite.testResults)
      .filter(({ status }) => status === 'passed' || status === 'failed')
      .map(({ duration, fullName }) => [duration ?? 0, fullName.replaceAll(/\s+/g, ' ')]);
    const lines = (list) => list.sort(([a], [b]) => b - a).map(([ms, name]) => `${seconds(ms)} s  ${name}`);
    const skipped = testResults
      .flatMap((suite) => suite.testResults)
      .filter(({ status }) => status === 'pending' || status === 'todo')
      .map(({ fullName }) => `  ${fullName.replaceAll(/\s+/g, ' ')}`);
    const report = [
      '',
      'Suites',
      ...lines(suites),
      '',
      'Slowest tests',
      ...lines(tests).slice(0, SLOWEST_TESTS),
      '',
      'Skipped',
      ...skipped,
      '',
    ];
    process.stderr.write(report.join('\n'));
  }
}
