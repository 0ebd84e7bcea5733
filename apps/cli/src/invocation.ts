import { type Command, InvalidArgumentError, Option } from 'commander';
import { DELIVERY_ERROR_CODES, DELIVERY_STATUSES, ENVIRONMENTS, EVENT_TYPES } from '@tracking/contracts';
import type { AdministrationClient } from './administration-client.ts';
import type { TextOutputStream, Printer } from './terminal.ts';

const DEFAULT_LIST_LIMIT = 50;

/** Arguments and dependencies of a command. */
export interface CommandInvocation {
  readonly client: AdministrationClient;
  /** True if the service also delivers webhooks; false if the service was started for this command only. */
  readonly isServing: boolean;
  readonly print: Printer;
  /** Name of the workspace. */
  readonly workspace: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** The positional arguments. */
  readonly operands: readonly string[];
  /** The first positional argument, or an empty string. */
  readonly operand: string;
  readonly signal: AbortSignal;
  /** Standard output and input, for raw data such as an exported file. Results are printed with `print` instead. */
  readonly out: TextOutputStream;
  readonly input: NodeJS.ReadableStream;
  /**
   * Reserves standard input or output for raw data, such as an exported file. Call it before reading or writing.
   * @throws CliError on the second call, because streams cannot restart
   */
  readonly beginStream: () => void;
  /** Reads a password from standard input, once. @throws UsageError */
  readonly password: () => Promise<string>;
  /** Asks the user a question at the terminal. Returns true if there is no terminal. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** Prints a message to standard error. */
  readonly note: (text: string) => void;
}
type Action = (...args: unknown[]) => Promise<void>;
export type LocalInvocation = Omit<CommandInvocation, 'client' | 'isServing'>;
/**
 * Returns a commander action that runs the command.
 * @param check runs before a service is called or started; throws UsageError for conflicting options or missing input
 */
export type Runner = (
  command: (invocation: CommandInvocation) => Promise<void>,
  check?: (invocation: LocalInvocation) => void | Promise<void>,
) => Action;
/** Returns a commander action that runs a command without a service on the data folder. */
export type LocalRunner = (command: (invocation: LocalInvocation) => Promise<void>) => Action;

export function addEnvironmentOption(command: Command): Command {
  return command.addOption(
    new Option('--environment <environment>', 'only items of this environment').choices([...ENVIRONMENTS]),
  );
}

export function addEventFilterOptions(command: Command): Command {
  return command
    .addOption(new Option('--event-type <type>', 'only events of this type').choices([...EVENT_TYPES]))
    .option('--since <time>', 'only events at or after this time, such as 2026-11-21T09:30:00Z', parseTimestamp)
    .option('--until <time>', 'only events at or before this time', parseTimestamp);
}

export function addDeliveryFilterOptions(command: Command): Command {
  return addEventFilterOptions(command.option('--endpoint <id>', 'only deliveries to this endpoint, whe_…'));
}

export function addDeadLetterFilterOptions(command: Command): Command {
  return addDeliveryFilterOptions(command).addOption(
    new Option('--reason <code>', 'only deliveries that failed for this reason').choices([...DELIVERY_ERROR_CODES]),
  );
}

export function addDeliveryStatusFilterOption(command: Command): Command {
  return command.option('--status <statuses>', 'only these statuses, separated by commas', validateDeliveryStatuses);
}

/** @param order sort order of the items, for example "newest first" */
export function addLimitOption(command: Command, order: string): Command {
  return command.option(
    '--limit <number>',
    `maximum number of items, ${order}`,
    parsePositiveInteger,
    DEFAULT_LIST_LIMIT,
  );
}

/** Returns the query parameters of all defined values. */
export function toQueryParameters(params: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const defined = Object.entries(params).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined.map(([name, value]) => [name, String(value)]));
}

/** @throws InvalidArgumentError */
export function parsePositiveInteger(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('Expected a positive whole number.');
  return Number(text);
}

function validateDeliveryStatuses(text: string): string {
  if (text.split(',').every((status) => DELIVERY_STATUSES.some((known) => known === status))) return text;
  throw new InvalidArgumentError(`Allowed: ${DELIVERY_STATUSES.join(', ')}.`);
}

/** Parses a time. Invalid times are rejected before a service is started. */
function parseTimestamp(text: string): string {
  if (/^\d{4}-\d\d-\d\dT\S+(?:Z|[+-]\d\d:\d\d)$/i.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new InvalidArgumentError('Expected a time with an offset, such as 2026-11-21T09:30:00Z.');
}
