import { loadConfig } from './config.ts';
import { runCli } from './program.ts';
import { TerminalMessagePrinter } from './terminal.ts';

const abortControllerOfInterrupt = new AbortController();
for (const interruptSignalName of ['SIGINT', 'SIGTERM'] as const)
  process.on(interruptSignalName, () => abortControllerOfInterrupt.abort());
// The reader of the output may close it early. That is not a failure.
process.stdout.on('error', () => undefined);

const commandLineArguments = process.argv.slice(2);
const { stdin: input, stdout: out, stderr: err } = process;
try {
  process.exitCode = await runCli(commandLineArguments, loadConfig(), {
    out,
    err,
    input,
    signal: abortControllerOfInterrupt.signal,
  });
} catch (errorThrownByCommand) {
  process.exitCode = new TerminalMessagePrinter(err, commandLineArguments).printFailure(errorThrownByCommand);
}
