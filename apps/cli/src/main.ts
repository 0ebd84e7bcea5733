import { CliError } from './cli-error.ts';
import { loadConfig } from './config.ts';
import { runCli } from './program.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());
// Whoever reads the output may stop reading: no reason to fail.
process.stdout.on('error', () => undefined);

try {
  process.exitCode = await runCli(process.argv.slice(2), loadConfig(), {
    out: process.stdout,
    err: process.stderr,
    signal: interrupted.signal,
  });
} catch (error) {
  if (!(error instanceof CliError)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = 1;
}
