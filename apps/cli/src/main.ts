import { loadConfig } from './config.ts';
import { runCli } from './program.ts';
import { OutputReporter } from './terminal.ts';

const interruptController = new AbortController();
for (const interruptSignal of ['SIGINT', 'SIGTERM'] as const)
  process.on(interruptSignal, () => interruptController.abort());
// The reader of the output may close it early. That is not a failure.
process.stdout.on('error', () => undefined);

const commandLineArguments = process.argv.slice(2);
const { stdin: input, stdout: out, stderr: err } = process;
try {
  process.exitCode = await runCli(commandLineArguments, loadConfig(), {
    out,
    err,
    input,
    signal: interruptController.signal,
  });
} catch (commandError) {
  process.exitCode = new OutputReporter(err, commandLineArguments).printFailure(commandError);
}
