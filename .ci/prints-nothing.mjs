// Passes on Jest's output, and fails if anything precedes its summary except the reporter's lines about passed suites:
// for example a Node warning, or output of a library.
import { createInterface } from 'node:readline';

/** On a busy machine, a worker may take longer to exit than the half second that Jest allows. */
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
  process.stdout.write(`\nUnexpected output of passing tests:\n${printed.join('\n')}\n`);
  process.exitCode = 1;
}
