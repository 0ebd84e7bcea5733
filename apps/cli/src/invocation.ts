import { type Command, InvalidArgumentError, Option } from 'commander';
import { DELIVERY_ERROR_CODES, DELIVERY_STATUSES, ENVIRONMENTS, EVENT_TYPES } from '@tracking/contracts';
import type { AdministrationClient } from './administration-client.ts';
import type { Output, Printer } from './terminal.ts';

const DEFAULT_LIMIT = 50;

/** The input and the tools of a command. */
export interface Invocation {
  readonly client: AdministrationClient;
  /** Whether the service delivers too, and does not only answer for as long as the command takes. */
  readonly isServing: boolean;
  readonly print: Printer;
  /** Name of the workspace. */
  readonly workspace: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** The positional arguments. */
  readonly operands: readonly string[];
  /** The first of them; empty where there is none. */
  readonly operand: string;
  readonly signal: AbortSignal;
  /** Standard output and input, for what is no result but goes through as it is. */
  readonly out: Output;
  readonly input: NodeJS.ReadableStream;
  /** To be called before anything goes through. @throws CliError the second time: a stream cannot be begun again */
  readonly beginStream: () => void;
  /** A password from standard input, read once. @throws UsageError */
  readonly password: () => Promise<string>;
  /** Asks whoever is at a terminal; yes where nobody is. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** Says something beside the results. */
  readonly note: (text: string) => void;
}
type Action = (...args: unknown[]) => Promise<void>;
export type LoneInvocation = Omit<Invocation, 'client' | 'isServing'>;
/**
 * Makes a commander action of a command.
 * @param check throws UsageError where options do not go together or input lacks, before any service is asked or started
 */
export type Runner = (
  command: (invocation: Invocation) => Promise<void>,
  check?: (invocation: LoneInvocation) => void | Promise<void>,
) => Action;
/** The same of one that needs no service on the data folder. */
export type LoneRunner = (command: (invocation: LoneInvocation) => Promise<void>) => Action;

export function addEnvironment(command: Command): Command {
  return command.addOption(
    new Option('--environment <environment>', 'one environment only').choices([...ENVIRONMENTS]),
  );
}

/** Which events. */
export function addEventFilters(command: Command): Command {
  return command
    .addOption(new Option('--event-type <type>', 'only those of such events').choices([...EVENT_TYPES]))
    .option('--since <time>', 'only those of events of this time or later, as 2026-11-21T09:30:00Z', timestamp)
    .option('--until <time>', 'only those of events of this time or earlier', timestamp);
}

/** Which deliveries. */
export function addDeliveryFilters(command: Command): Command {
  return addEventFilters(command.option('--endpoint <id>', 'only those to this endpoint, whe_…'));
}

/** Which dead letters. */
export function addDeadLetterFilters(command: Command): Command {
  return addDeliveryFilters(command).addOption(
    new Option('--reason <code>', 'only those that failed for this reason').choices([...DELIVERY_ERROR_CODES]),
  );
}

export function addStatus(command: Command): Command {
  return command.option('--status <statuses>', 'only those of these statuses, separated by commas', statuses);
}

/** @param which of all that match are listed where they are more */
export function addLimit(command: Command, which: string): Command {
  return command.option('--limit <number>', `most to list, ${which}`, wholeNumber, DEFAULT_LIMIT);
}

/** The given options under their names in a query. */
export function queryOf(params: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const given = Object.entries(params).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('Expected a whole number from 1 on.');
  return Number(text);
}

function statuses(text: string): string {
  if (text.split(',').every((status) => DELIVERY_STATUSES.some((known) => known === status))) return text;
  throw new InvalidArgumentError(`Allowed are ${DELIVERY_STATUSES.join(', ')}.`);
}

/** Refuses what the service refuses too, before a service is started. */
function timestamp(text: string): string {
  if (/^\d{4}-\d\d-\d\dT\S+(?:Z|[+-]\d\d:\d\d)$/i.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new InvalidArgumentError('Expected a time with its offset, as 2026-11-21T09:30:00Z.');
}
