// Passes on what Jest prints, and fails where anything stands before its summary that Jest's reporter does not say of a
// suite that passed: a warning of Node's, or what a library writes to a stream.
import { createInterface } from 'node:readline';

/** On a busy machine a worker may take longer to end than the half second that Jest gives it. */
const SLOW_END = /^A worker process has failed to exit gracefully/;
const REPORTED = /^(?:|PASS .*|Running \d+ projects:|- \S+|built \d+ files)$/;
const SUMMARY = /^(?:Suites$|Test Suites: )/;

const printed = [];
let isSummary = false;
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${line}\n`);
  isSummary ||= SUMMARY.test(line);
  if (!isSummary && !REPORTED.test(line) && !SLOW_END.test(line)) printed.push(line);
}
if (printed.length > 0) {
  process.stdout.write(`\nPrinted beside what passing tests say:\n${printed.join('\n')}\n`);
  process.exitCode = 1;
}
