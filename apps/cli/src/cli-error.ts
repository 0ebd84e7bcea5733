/** What an operator reads: one line, without anything secret. */
export class CliError extends Error {
  override readonly name = 'CliError';
}
