import type { AdministrationClient } from './administration-client.ts';
import type { Output, Printer } from './output.ts';

/** What a command works with. */
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
