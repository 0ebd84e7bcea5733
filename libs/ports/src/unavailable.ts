/**
 * The engine behind a port did not answer. Whether the operation took effect is unknown unless the port says
 * otherwise; every operation of every port may be repeated.
 */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable';
  constructor(
    /** Which engine or service, as operators know it: `event store`, `document store`, `shipments`. */
    readonly engine: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(`${engine}: ${message}`, options);
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
