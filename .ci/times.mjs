const SLOWEST_TESTS = 10;
const seconds = (ms) => (ms / 1_000).toFixed(1).padStart(7);

/** A Jest reporter: says at the end how long each suite took, in seconds, and names the slowest tests. */
export default class Times {
  onRunComplete(_contexts, { testResults }) {
    const suites = testResults
      .filter(({ skipped }) => !skipped)
      .map(({ perfStats, testFilePath }) => [perfStats.runtime, testFilePath.replace(`${process.cwd()}/`, '')]);
    const tests = testResults
      .flatMap((suite) => suite.testResults)
      .map(({ duration, fullName }) => [duration ?? 0, fullName.replaceAll(/\s+/g, ' ')]);
    const lines = (list) => list.sort(([a], [b]) => b - a).map(([ms, name]) => `${seconds(ms)} s  ${name}`);
    const report = ['', 'Suites', ...lines(suites), '', 'Slowest tests', ...lines(tests).slice(0, SLOWEST_TESTS), ''];
    process.stderr.write(report.join('\n'));
  }
}
