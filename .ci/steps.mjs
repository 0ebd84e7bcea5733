import { spawn } from 'node:child_process';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAX_SHOWN_FAILURES = 6;
const MAX_LINES_PER_FAILURE = 24;

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} [command] a line for bash
 * @property {string} [skipped] why the step does not run on this machine
 */

/**
 * Runs groups of steps one after the other, and the steps of a group in their order, `lanes` at a time. Prints the output of
 * each step when it ends, and at the end the first failures of Jest in each failed step and a table of times. A failure does
 * not stop the others. Sets the exit status to 1 when a step failed.
 *
 * @param {readonly {lanes: number, steps: readonly Step[]}[]} groups
 * @param {number} started when the run began, in epoch milliseconds
 */
export async function runSteps(groups, started = Date.now()) {
  const folder = mkdtempSync(join(tmpdir(), 'steps-'));
  const rows = [];
  for (const { lanes, steps } of groups) {
    const ofGroup = [];
    const waiting = [...steps.entries()];
    const lane = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, step] = next;
        ofGroup[index] = await runStep(step, join(folder, `${rows.length + index}.log`));
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    rows.push(...ofGroup);
  }
  rmSync(folder, { recursive: true });

  for (const { name, failures } of rows.filter((row) => row.failures?.length > 0)) {
    console.log(`\n== First failures of: ${name}\n${failures.join('\n')}`);
  }
  const width = Math.max(...rows.map(({ name }) => name.length));
  const lines = rows.map(({ name, result, ms }) => `${name.padEnd(width)}  ${seconds(ms)}  ${result}`);
  console.log(`\n${lines.join('\n')}\n${'Total'.padEnd(width)}  ${seconds(Date.now() - started)}`);
  const failed = rows.filter(({ result }) => result.startsWith('failed')).map(({ name }) => name);
  console.log(failed.length === 0 ? '\nAll passed' : `\nFailed: ${failed.join('; ')}`);
  // The last lines name the failures, because a reader may see only the end of a long output.
  for (const report of rows.flatMap(({ failures = [] }) => failures)) console.log(report.split('\n', 1)[0]);
  if (failed.length > 0) process.exitCode = 1;
}

/** @param {Step} step @param {string} log */
async function runStep({ name, command, skipped }, log) {
  if (skipped !== undefined) return { name, ms: 0, result: `skipped: ${skipped}` };
  const since = Date.now();
  console.log(`-- begins: ${name}`);
  const code = await run(command, log);
  const ms = Date.now() - since;
  const result = code === 0 ? 'passed' : `failed with ${code}`;
  const output = readFileSync(log, 'utf8');
  console.log(`\n== ${name}: ${result} (${(ms / 1_000).toFixed(0)} s)\n${output}`);
  return { name, ms, result, failures: code === 0 ? [] : firstFailures(output) };
}

/** Returns the beginnings of the first failures that Jest reports in an output: title, message, and a few lines of the stack. */
function firstFailures(output) {
  const [, ...reports] = output.split(/^(?= {2}● )/m);
  const unique = new Map(reports.map((report) => [report.slice(0, report.indexOf('\n')), report]));
  return [...unique.values()]
    .slice(0, MAX_SHOWN_FAILURES)
    .map((report) => report.split('\n').slice(0, MAX_LINES_PER_FAILURE).join('\n'));
}

function run(command, log) {
  const output = createWriteStream(log);
  const child = spawn('bash', ['-euo', 'pipefail', '-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  return new Promise((resolve) => {
    child.once('close', (code, signal) => output.end(() => resolve(code ?? signal)));
  });
}

function seconds(ms) {
  return `${(ms / 1_000).toFixed(0).padStart(5)} s`;
}
