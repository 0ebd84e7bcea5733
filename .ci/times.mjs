import { spawnSync } from 'node:child_process';

const SLOWEST_TESTS = 10;
/**
 * Time without progress after which a run counts as hung. No test takes as long, and CI would otherwise wait until it
 * is killed.
 */
const HUNG_AFTER_MS = 12 * 60_000;
const seconds = (ms) => (ms / 1_000).toFixed(1).padStart(7);

/**
 * A Jest reporter that ends a hung run and names its running suites. Prints at the end the duration of each suite in
 * seconds, the slowest tests, and the skipped tests, whose titles give the reason.
 */
export default class Times {
  #underWay = new Set();
  #watch;

  onRunStart() {
    this.#resetWatch();
  }

  onTestFileStart({ path }) {
    this.#underWay.add(path);
    this.#resetWatch();
  }

  onTestCaseResult() {
    this.#resetWatch();
  }

  onTestFileResult({ path }) {
    this.#underWay.delete(path);
    this.#resetWatch();
  }

  #resetWatch() {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => {
      process.stderr.write(`\nHung: ${[...this.#underWay].join(', ')}\n`);
      // Ends the workers too: a busy worker does not notice that its parent has ended.
      spawnSync('pkill', ['-KILL', '-P', String(process.pid)]);
      process.exit(1);
    }, HUNG_AFTER_MS);
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
