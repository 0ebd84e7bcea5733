import type { AdministrationClient } from './administration-client.ts';
import type { Printer } from './output.ts';

/** What a command works with. */
export interface Invocation {
  readonly client: AdministrationClient;
  readonly print: Printer;
  /** Name of the workspace. */
  readonly workspace: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** The positional argument; empty where there is none. */
  readonly operand: string;
  readonly signal: AbortSignal;
}
/** Makes a commander action of a command. */
export type Runner = (command: (invocation: Invocation) => Promise<void>) => (...args: unknown[]) => Promise<void>;
