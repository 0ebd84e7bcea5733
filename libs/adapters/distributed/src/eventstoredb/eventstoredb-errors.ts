import { AppendTooLarge, Unavailable, VersionConflict } from '@tracking/ports';

/** Which engine, as operators know it. */
export const ENGINE = 'event store';

/** As far as the client's and gRPC's errors go; some have a `type`, some a `code` only. */
interface ClientError {
  readonly type?: unknown;
  readonly code?: unknown;
  readonly name?: unknown;
}

/** What went wrong in one word, as `unavailable`: messages of the client hold addresses and names. */
export function reasonOf(error: unknown): string {
  if (error instanceof Unavailable) return error.message;
  const { type, code, name }: ClientError = error ?? { type: 'ended' };
  if (typeof type === 'string') return type;
  return typeof code === 'number' ? `gRPC status ${code}` : String(name);
}

function isOfType(error: unknown, type: string): boolean {
  return (error as ClientError).type === type;
}

/**
 * The client's errors as the port's: what the node refuses for ever as plain errors, everything else as `Unavailable`.
 * Nothing of their text is kept, nor they as a cause.
 */
export function portError(error: unknown): Error {
  if (error instanceof Unavailable || error instanceof VersionConflict || error instanceof TypeError) return error;
  if (isOfType(error, 'maximum-append-size-exceeded')) return new AppendTooLarge();
  if (isOfType(error, 'stream-deleted')) return new Error(`${ENGINE}: the stream was deleted for ever`);
  return new Unavailable(ENGINE, `does not answer (${reasonOf(error)})`);
}

export function timedOut(): Unavailable {
  return new Unavailable(ENGINE, 'does not answer in time');
}
