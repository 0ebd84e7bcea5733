import { Command, CommanderError } from 'commander';
import { type CliConfig, CliError, UsageError } from './config.ts';
import {
  askConfirmation,
  type TextOutputStream,
  Printer,
  readPassword,
  TerminalMessagePrinter,
  USAGE_EXIT_CODE,
} from './terminal.ts';
import type { LocalInvocation, LocalRunner, Runner } from './invocation.ts';
import { addDeadLetterCommands } from './dead-letter-commands.ts';
import { addDeliveryCommands } from './delivery-commands.ts';
import { addEventCliCommands } from './event-commands.ts';
import { addKeyCommands, addUserCommands, addWorkspaceCommands } from './identity-commands.ts';
import { addListenCommand } from './listen-command.ts';
import { addReplayCommands } from './replay-commands.ts';
import {
  addLeaseCommands,
  addParkedCliCommands,
  addPartitionCommands,
  addReadModelCommands,
} from './read-model-commands.ts';
import { addResendCommand } from './public-api.ts';
import { runTaskOnRunningOrTemporaryService } from './administration-client.ts';

/** Exit code that shells report for a process ended by SIGINT. */
const INTERRUPTED_EXIT_CODE = 130;

interface CliStreams {
  readonly out: TextOutputStream;
  readonly err: TextOutputStream;
  readonly input: NodeJS.ReadableStream;
}

/**
 * Runs one command line and returns its exit code. Results go to `out`. An error is one line on `err`, or JSON in the
 * API's format under `--json`.
 * @param signal aborts if the user interrupts; a service that was started for the command then stops too
 */
export async function runCli(
  args: readonly string[],
  config: CliConfig,
  { out, err, input, signal }: CliStreams & { readonly signal: AbortSignal },
): Promise<number> {
  const report = new TerminalMessagePrinter(err, args);
  const note = (line: string) => report.printNote(line);
  const beginStream = createGuardAgainstRestartedTransfer();
  let passwordRead: Promise<string> | undefined;
  const password = () => (passwordRead ??= readPassword({ input, err, signal }));
  const confirm = (question: string) => askConfirmation({ input, err, signal }, question);
  const createInvocation = (parameters: readonly unknown[]): LocalInvocation => {
    const { operands, options } = parseCommanderActionParameters(parameters);
    const print = new Printer(out, report.asJson);
    const given = { workspace: String(options['workspace']), options, operands, operand: operands[0] ?? '' };
    return { ...given, print, out, input, beginStream, password, confirm, note, signal };
  };
  const run: Runner =
    (command, check = () => undefined) =>
    async (...parameters) => {
      const invocation = createInvocation(parameters);
      await check(invocation);
      await runTaskOnRunningOrTemporaryService(config, signal, note, (client, isServing) =>
        command({ client, isServing, ...invocation }),
      );
    };
  const runLocally: LocalRunner =
    (command) =>
    (...parameters) =>
      command(createInvocation(parameters));
  const reportMisuse = (message: string) => report.printFailure(new UsageError(message.trim().replace(/^error: /, '')));
  try {
    const root = createCliProgram({ run, runAlone: runLocally }, config, out, reportMisuse);
    await root.parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      // Commander reports all errors through `outputError`, except the error for a missing command.
      if (error.code === 'commander.help') reportMisuse('no command was specified; see --help');
      return USAGE_EXIT_CODE;
    }
    if (signal.aborted || isAbort(error)) return INTERRUPTED_EXIT_CODE;
    return report.printFailure(error);
  }
}

function createCliProgram(
  { run, runAlone }: { readonly run: Runner; readonly runAlone: LocalRunner },
  { apiKey }: CliConfig,
  out: TextOutputStream,
  misused: (message: string) => void,
): Command {
  const root = new Command('cli').description('operates the shipment tracking service on DATA_DIR (./data by default)');
  addKeyCommands(root.command('keys').description('API keys'), run);
  addUserCommands(root.command('users').description('users who sign in'), run);
  addWorkspaceCommands(root.command('workspaces').description('workspaces'), run);
  addReadModelCommands(root.command('read-models').description('read models, which queries use'), run);
  addLeaseCommands(root.command('leases').description('leases, which divide work among processes'), run);
  addPartitionCommands(root.command('partitions').description('partitions, which divide events among processes'), run);
  const events = root.command('events').description('events of all shipments');
  addEventCliCommands(events, run);
  addResendCommand(events.command('resend'), runAlone, apiKey);
  addParkedCliCommands(root.command('parked').description('shipments and messages that could not be processed'), run);
  addDeliveryCommands(root.command('deliveries').description('deliveries to webhook endpoints'), run);
  addDeadLetterCommands(root.command('dead-letters').description('deliveries that failed permanently'), run);
  addReplayCommands(root.command('replays').description('bulk jobs that send or discard deliveries'), run);
  addListenCommand(root.command('listen'), runAlone, apiKey);
  for (const command of listCommands(root)) {
    command
      .exitOverride()
      .allowExcessArguments(false)
      .configureOutput({ writeOut: (text) => out.write(text), writeErr: () => undefined, outputError: misused });
    if (command.commands.length > 0) continue;
    command.option('--workspace <name>', 'name of the workspace', 'default').option('--json', 'print JSON');
  }
  return root;
}

function listCommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(listCommands)];
}

/** Ctrl-C during a password prompt throws an AbortError instead of sending a signal. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

function createGuardAgainstRestartedTransfer(): () => void {
  let wasCalled = false;
  return () => {
    if (wasCalled)
      throw new CliError(
        'the service stopped during the transfer, and a stream cannot restart: run the command again',
        'unavailable',
      );
    wasCalled = true;
  };
}

/**
 * Splits the parameters of a commander action: first the operands (single values or a list), then the options, then the
 * command.
 */
function parseCommanderActionParameters(parameters: readonly unknown[]): Pick<LocalInvocation, 'operands' | 'options'> {
  const [options] = parameters.slice(-2) as [Readonly<Record<string, unknown>>];
  const operands = parameters.slice(0, -2).flat();
  return { operands: operands.filter((operand) => operand !== undefined).map(String), options };
}
