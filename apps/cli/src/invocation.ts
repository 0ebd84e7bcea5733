import type { AdministrationClient } from './administration-client.ts';
import type { Printer } from './output.ts';

/** What a command works with. */
export interface Invocation {
  readonly client: AdministrationClient;
  readonly print: Printer;
  /** Name of the workspace. */
  readonly workspace: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** The positional arguments. */
  readonly operands: readonly string[];
  /** The first of them; empty where there is none. */
  readonly operand: string;
  readonly signal: AbortSignal;
}
type Action = (...args: unknown[]) => Promise<void>;
/** Makes a commander action of a command. */
export type Runner = (command: (invocation: Invocation) => Promise<void>) => Action;
/** The same of one that needs no service on the data folder. */
export type LoneRunner = (command: (invocation: Omit<Invocation, 'client'>) => Promise<void>) => Action;
