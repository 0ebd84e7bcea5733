import { loadConfig } from './config.ts';
import { runCli } from './program.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());
// Whoever reads the output may stop reading: no reason to fail.
process.stdout.on('error', () => undefined);

process.exitCode = await runCli(process.argv.slice(2), loadConfig(), {
  out: process.stdout,
  err: process.stderr,
  signal: interrupted.signal,
});
