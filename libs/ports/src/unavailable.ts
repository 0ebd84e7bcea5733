/**
 * The engine behind a port did not answer. Whether the operation took effect is unknown unless the port says
 * otherwise; every operation of every port may be repeated.
 */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable';
  constructor(
    /** Which engine or service, as operators know it: `event store`, `document store`, `shipments`. */
    readonly engine: string,
    /** The message without the engine. */
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`${engine}: ${reason}`, options);
  }
}

/** The engine takes no writes at present. Certain that nothing was done; trying again at once is in vain. */
export class WritesRefused extends Unavailable {
  override readonly name = 'WritesRefused';
}

/** A bounded queue is full. Certain that nothing was done. */
export class Busy extends Unavailable {
  override readonly name = 'Busy';
}

/** Returns true if the operation that threw the error certainly did nothing. Earlier steps or attempts may have. */
export function isKnownUndone(error: unknown): error is Busy | WritesRefused {
  return error instanceof Busy || error instanceof WritesRefused;
}

/**
 * The error for a caller whose earlier step or attempt may have taken effect: an error that {@link isKnownUndone} becomes a
 * plain `Unavailable`. Any other error is returned as it is.
 */
export function withUnknownOutcome(error: unknown): unknown {
  if (!isKnownUndone(error)) return error;
  return new Unavailable(error.engine, error.reason, { cause: error });
}
