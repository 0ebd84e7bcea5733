import { CliError, RefusedError, UsageError } from './cli-error.ts';
import { printable } from './output.ts';
import type { Output } from './output.ts';

const FAILED = 1;
const USAGE = 2;

/** What is said beside the results: lines for people, or failures alone in the API's error form. */
export class Report {
  readonly asJson: boolean;

  /** @param args the command line; asked before it is parsed, for what is told of how it was written */
  constructor(
    private readonly err: Output,
    args: readonly string[],
  ) {
    const end = args.indexOf('--');
    this.asJson = args.slice(0, end < 0 ? undefined : end).includes('--json');
  }

  note(line: string): void {
    if (!this.asJson) this.err.write(`${printable(line)}\n`);
  }

  /** Tells why the command failed. @returns its exit code: 2 where it was called wrongly, else 1 */
  failed(error: unknown): number {
    const told =
      error instanceof CliError ? error : new CliError(error instanceof Error ? error.message : String(error));
    if (this.asJson) this.err.write(`${JSON.stringify(told.body, null, 2)}\n`);
    else this.err.write(`error: ${printable(told.message)}\n`);
    return told instanceof UsageError || (told instanceof RefusedError && told.isAboutInput) ? USAGE : FAILED;
  }
}
