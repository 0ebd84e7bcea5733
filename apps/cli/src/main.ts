import { loadConfig } from './config.ts';
import { runCli } from './program.ts';
import { Report } from './terminal.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());
// The reader of the output may close it early, which is not a failure.
process.stdout.on('error', () => undefined);

const args = process.argv.slice(2);
const { stdin: input, stdout: out, stderr: err } = process;
try {
  process.exitCode = await runCli(args, loadConfig(), { out, err, input, signal: interrupted.signal });
} catch (error) {
  process.exitCode = new Report(err, args).fail(error);
}
