import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import type { Connector } from './connector.ts';

export interface ConnectionSettings {
  /** Open at once to one origin; further requests wait for one of them. */
  readonly maxConnectionsPerOrigin: number;
  /** Kept open without a request, of all origins together; beyond it the one that rested longest is closed. */
  readonly maxIdleConnections: number;
  /** How long a connection is kept without a request, in milliseconds; a receiver's own `Keep-Alive` can only shorten it. */
  readonly keepAliveMs: number;
  /** After this age, in milliseconds, a connection takes no further request: a name that moved is followed. */
  readonly maxConnectionAgeMs: number;
}

/**
 * Read of one answer at most, whatever it consists of: status lines and headers, also those of 1xx answers, chunks with
 * their extensions, trailers. Headers and body that are kept are half of it at most.
 */
export const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Read at once at most. The parser looks at all that it is given, also behind what made it give up, and undici makes an
 * error of each further header there.
 */
const MAX_CHUNK_BYTES = 512;
/** Taken off a receiver's `Keep-Alive: timeout=…`, in milliseconds, for the way there. */
const KEEP_ALIVE_MARGIN_MS = 1000;
const MAX_HEADER_BYTES = 16 * 1024;
/**
 * Limit of one response over the network. TLS can add any number of bytes to what it encrypts (tickets, new keys,
 * new handshakes), which no reader sees: they are counted from time to time.
 */
const MAX_NETWORK_BYTES = 2 * MAX_ANSWER_BYTES;
const NETWORK_CHECK_INTERVAL_MS = 50;

/** A request that waits for a connection. */
export interface ConnectionWaiter {
  readonly origin: string;
  run(connection: ReceiverConnection): void;
}

/** A connection to an origin, with at most one request on it. */
export class ReceiverConnection {
  /** Answers that came whole over the present socket. */
  answers = 0;
  /** When the present socket began to open, by the monotonic clock. */
  openedAt = 0;
  readonly #client: Client;
  /** As the network sees it, without TLS. */
  #socket: Socket | undefined;
  #bytesBefore = 0;
  readonly #bound = new AnswerLimiter();

  constructor(
    readonly origin: string,
    connector: Connector,
    { keepAliveMs }: ConnectionSettings,
    onDisconnect: (connection: ReceiverConnection) => void,
  ) {
    this.#client = new Client(origin, {
      connect: (options, callback) => {
        this.answers = 0;
        this.openedAt = performance.now();
        this.#bytesBefore = 0;
        this.#socket = connector(options, (...opened) => {
          if (opened[1] !== null) this.#bound.watch(opened[1]);
          callback(...opened);
        });
      },
      // One deadline for everything is kept by the request itself.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      pipelining: 1,
    });
    this.#client.on('disconnect', () => onDisconnect(this));
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#bytesBefore = this.#socket?.bytesRead ?? 0;
    this.#bound.begin();
    this.#client.dispatch(request, handler);
  }

  /** Closes it where more came over the network than any answer needs. */
  checkNetworkBytes(): void {
    const bytes = (this.#socket?.bytesRead ?? 0) - this.#bytesBefore;
    if (bytes > MAX_NETWORK_BYTES) this.destroy(new AnswerTooLong());
  }

  /** Closes the socket, also one that is still being opened; a request on it fails. */
  destroy(reason: Error | null = null): void {
    void this.#client.destroy(reason);
    this.#socket?.destroy();
  }
}

interface OriginConnections {
  /** The most recently used last: that one is used next, so that the others can grow old. */
  readonly idle: ReceiverConnection[];
  open: number;
  /** In the order of asking. */
  readonly waiting: Set<ConnectionWaiter>;
}

/** The connections of all origins. An origin is forgotten with its last connection. */
export class Connections {
  readonly #origins = new Map<string, OriginConnections>();
  /** Idle connections of all origins, the one that was idle longest first. */
  readonly #idle = new Set<ReceiverConnection>();
  readonly #open = new Set<ReceiverConnection>();
  #check: NodeJS.Timeout | undefined;

  constructor(
    private readonly connector: Connector,
    private readonly settings: ConnectionSettings,
  ) {}

  get open(): number {
    return this.#open.size;
  }
  get idle(): number {
    return this.#idle.size;
  }

  /** Runs the waiter on a connection: now, or when one is free. */
  acquire(waiter: ConnectionWaiter): void {
    const origin = this.#origins.get(waiter.origin);
    const idle = origin?.idle.pop();
    if (idle !== undefined) {
      this.#idle.delete(idle);
      waiter.run(idle);
    } else if (origin === undefined || origin.open < this.settings.maxConnectionsPerOrigin) {
      waiter.run(this.#openTo(waiter.origin));
    } else {
      origin.waiting.add(waiter);
    }
  }

  /** For a waiter that gave up before it ran. */
  forget(waiter: ConnectionWaiter): void {
    this.#origins.get(waiter.origin)?.waiting.delete(waiter);
  }

  /** Gives back a connection after an answer that came whole. */
  release(connection: ReceiverConnection): void {
    connection.answers += 1;
    const origin = this.#origins.get(connection.origin);
    if (origin === undefined || performance.now() - connection.openedAt > this.settings.maxConnectionAgeMs) {
      this.discard(connection);
      return;
    }
    const next = takeFirst(origin.waiting);
    if (next !== undefined) {
      next.run(connection);
      return;
    }
    origin.idle.push(connection);
    this.#idle.add(connection);
    if (this.#idle.size > this.settings.maxIdleConnections) {
      const [oldest] = this.#idle;
      if (oldest !== undefined) this.#dropIdle(oldest);
    }
  }

  /** Closes a connection that cannot be used again. */
  discard(connection: ReceiverConnection): void {
    const waiting = this.#origins.get(connection.origin)?.waiting;
    const next = waiting && takeFirst(waiting);
    this.#close(connection);
    next?.run(this.#openTo(next.origin));
  }

  /** Closes a connection and opens another in its place. */
  renew(connection: ReceiverConnection): ReceiverConnection {
    this.#close(connection);
    return this.#openTo(connection.origin);
  }

  /** Closes what is idle. */
  close(): void {
    for (const connection of this.#idle) this.#dropIdle(connection);
  }

  #openTo(key: string): ReceiverConnection {
    let origin = this.#origins.get(key);
    if (origin === undefined) {
      origin = { idle: [], open: 0, waiting: new Set() };
      this.#origins.set(key, origin);
    }
    origin.open += 1;
    const opened = new ReceiverConnection(key, this.connector, this.settings, (connection) =>
      this.#dropIdle(connection),
    );
    this.#open.add(opened);
    this.#check ??= setInterval(checkAllConnections, NETWORK_CHECK_INTERVAL_MS, this.#open).unref();
    return opened;
  }

  #dropIdle(connection: ReceiverConnection): void {
    if (!this.#idle.delete(connection)) return;
    const idle = this.#origins.get(connection.origin)?.idle;
    idle?.splice(idle.indexOf(connection), 1);
    this.#close(connection);
  }

  #close(connection: ReceiverConnection): void {
    const origin = this.#origins.get(connection.origin);
    if (origin !== undefined) {
      origin.open -= 1;
      if (origin.open === 0 && origin.waiting.size === 0) this.#origins.delete(connection.origin);
    }
    this.#open.delete(connection);
    if (this.#open.size === 0) {
      clearInterval(this.#check);
      this.#check = undefined;
    }
    connection.destroy();
  }
}

function checkAllConnections(open: ReadonlySet<ReceiverConnection>): void {
  for (const connection of open) connection.checkNetworkBytes();
}

function takeFirst<T>(set: Set<T>): T | undefined {
  for (const first of set) {
    set.delete(first);
    return first;
  }
  return undefined;
}

export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

/** Lets so many bytes of an answer through to its parser, and closes the socket where it wants more. */
class AnswerLimiter {
  #left = MAX_ANSWER_BYTES;

  /** Starts the count of another response. */
  begin(): void {
    this.#left = MAX_ANSWER_BYTES;
  }

  /** Applies from now on to what is read of this socket, decrypted. */
  watch(socket: Socket): void {
    const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
    let rest: Buffer | null = null;
    socket.read = (size?: number) => {
      // Not earlier: what came within the bound may be all that is wanted of the answer.
      if (this.#left < 0) socket.destroy(new AnswerTooLong());
      if (socket.destroyed) return null;
      const bytes = rest ?? read(size);
      if (bytes === null) return null;
      const piece = bytes.subarray(0, MAX_CHUNK_BYTES);
      rest = piece.length < bytes.length ? bytes.subarray(piece.length) : null;
      this.#left -= piece.length;
      return this.#left < 0 ? piece.subarray(0, this.#left) : piece;
    };
  }
}
