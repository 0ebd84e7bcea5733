import { Command, CommanderError } from 'commander';
import type { CliConfig } from './config.ts';
import type { Invocation, LoneRunner, Runner } from './invocation.ts';
import { addDeadLetterCommands } from './dead-letter-commands.ts';
import { addDeliveryCommands } from './delivery-commands.ts';
import { addEventCommands } from './event-commands.ts';
import { addKeyCommands } from './key-commands.ts';
import { addListenCommand } from './listen-command.ts';
import { Printer, printable } from './output.ts';
import type { Output } from './output.ts';
import { addParkedCommands } from './parked-commands.ts';
import { addReadModelCommands } from './read-model-commands.ts';
import { withService } from './running-service.ts';
import { addWorkspaceCommands } from './workspace-commands.ts';

const FAILED = 1;
const USAGE = 2;
/** As shells tell of a process that SIGINT ended. */
const INTERRUPTED = 130;

/**
 * Runs one command line and answers its exit code. Results go to `out`; a failure is one line on `err`.
 * @param signal aborts when the user gives up; whatever was started for the command is stopped then too
 */
export async function runCli(
  args: readonly string[],
  config: CliConfig,
  { out, err, signal }: { readonly out: Output; readonly err: Output; readonly signal: AbortSignal },
): Promise<number> {
  const invoked = (parameters: readonly unknown[]): Omit<Invocation, 'client'> => {
    const { operands, options } = parametersOf(parameters);
    const print = new Printer(out, options['json'] === true);
    return { print, workspace: String(options['workspace']), options, operands, operand: operands[0] ?? '', signal };
  };
  const run: Runner =
    (command) =>
    (...parameters) =>
      withService(config, signal, (client) => command({ client, ...invoked(parameters) }));
  const runAlone: LoneRunner =
    (command) =>
    (...parameters) =>
      command(invoked(parameters));
  const fail = (message: string) => err.write(`${printable(message.trim())}\n`);
  try {
    const root = program({ run, runAlone }, config, out, fail);
    await root.parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      // commander has told all faults but this one
      if (error.code === 'commander.help') fail('error: no command given, see --help');
      return USAGE;
    }
    if (signal.aborted) return INTERRUPTED;
    fail(`error: ${error instanceof Error ? error.message : String(error)}`);
    return FAILED;
  }
}

function program(
  { run, runAlone }: { readonly run: Runner; readonly runAlone: LoneRunner },
  { apiKey }: CliConfig,
  out: Output,
  fail: (message: string) => void,
): Command {
  const root = new Command('cli').description('operates the shipment tracking service on DATA_DIR (./data by default)');
  addKeyCommands(root.command('keys').description('API keys'), run);
  addWorkspaceCommands(root.command('workspaces').description('workspaces'), run);
  addReadModelCommands(root.command('read-models').description('what queries are answered from'), run);
  addEventCommands(root.command('events').description('what happened to all shipments'), run);
  addParkedCommands(root.command('parked').description('what could not be handled and was put aside'), run);
  addDeliveryCommands(root.command('deliveries').description('deliveries to webhook endpoints'), run);
  addDeadLetterCommands(root.command('dead-letters').description('deliveries that failed for good'), run);
  addListenCommand(root.command('listen'), runAlone, apiKey);
  for (const command of allOf(root)) {
    command
      .exitOverride()
      .allowExcessArguments(false)
      .configureOutput({ writeOut: (text) => out.write(text), writeErr: () => undefined, outputError: fail });
    if (command.commands.length > 0) continue;
    command.option('--workspace <name>', 'name of the workspace', 'default').option('--json', 'print JSON');
  }
  return root;
}

function allOf(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(allOf)];
}

/** Commander hands over the operands, each or in a list, then the options, then the command. */
function parametersOf(parameters: readonly unknown[]): Pick<Invocation, 'operands' | 'options'> {
  const [options] = parameters.slice(-2) as [Readonly<Record<string, unknown>>];
  const operands = parameters.slice(0, -2).flat();
  return { operands: operands.filter((operand) => operand !== undefined).map(String), options };
}
