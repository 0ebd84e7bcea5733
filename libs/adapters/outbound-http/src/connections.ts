import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import type { Connector } from './connector.ts';
import { ResponseHeadFilter } from './response-head.ts';

/** Limits of the connections to receivers: their number, idle time and age. */
export interface ReceiverConnectionLimits {
  /** Maximum number of open connections to one origin. Further requests wait for a connection. */
  readonly maxConnectionsPerOrigin: number;
  /**
   * Maximum number of idle connections of all origins together. If the limit is exceeded, the connection that was idle
   * longest is closed.
   */
  readonly maxIdleConnections: number;
  /** Time for which an idle connection is kept, in milliseconds. A receiver's own `Keep-Alive` can only shorten it. */
  readonly keepAliveMs: number;
  /** Age, in milliseconds, after which a connection accepts no further request, so that DNS changes take effect. */
  readonly maxConnectionAgeMs: number;
}

/**
 * Maximum bytes that the client reads of one answer, including status lines, headers (also of 1xx answers), chunk
 * extensions and trailers. The headers and the part of the body that the client keeps are at most 48 KiB.
 */
export const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Maximum bytes given to the parser at once. The parser reads all given bytes, even after an error, and undici reports
 * an error for each further header.
 */
const MAX_PARSED_CHUNK_BYTES = 512;
/** Margin subtracted from a receiver's `Keep-Alive: timeout=…` for the network delay. */
const KEEP_ALIVE_MARGIN_MS = 1000;
/** Maximum bytes of the names and values of an answer's headers. */
const MAX_HEADER_BYTES = 32 * 1024;
/**
 * Maximum bytes of one response on the network. TLS can add any number of bytes that no reader sees (tickets, key
 * updates, handshakes), so the connection counts the received bytes at intervals.
 */
const MAX_RECEIVED_RESPONSE_BYTES = 2 * MAX_ANSWER_BYTES;
/** Milliseconds between two counts of the bytes that all connections received. */
const RECEIVED_BYTES_CHECK_INTERVAL_MS = 1_000;
/** Milliseconds between two counts while a request is in progress. Most requests end earlier. */
const RECEIVED_BYTES_CHECK_INTERVAL_IN_USE_MS = 50;

/** A request that waits for a connection. */
export interface ConnectionWaiter {
  readonly origin: string;
  sendRequestOnConnection(connection: ReceiverConnection): void;
}

/** A connection to an origin, with at most one request at a time. */
export class ReceiverConnection {
  /** Number of complete answers on the current socket. */
  answers = 0;
  /** Time at which the current socket began to open, on the monotonic clock. */
  openedAt = 0;
  readonly #client: Client;
  /** The TCP socket, beneath TLS. */
  #socket: Socket | undefined;
  #bytesBefore = 0;
  readonly #bound = new ResponseSizeLimiter();

  constructor(
    readonly origin: string,
    connector: Connector,
    { keepAliveMs }: ReceiverConnectionLimits,
    onDisconnect: (connection: ReceiverConnection) => void,
  ) {
    this.#client = new Client(origin, {
      connect: (options, callback) => {
        this.answers = 0;
        this.openedAt = performance.now();
        this.#bytesBefore = 0;
        this.#socket = connector(options, (...opened) => {
          if (opened[1] !== null) this.#bound.limitBytesOfSocket(opened[1]);
          callback(...opened);
        });
      },
      // undici's own timeouts are disabled, because the request keeps one deadline for all phases.
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

  /** True if bytes after the latest answer could be part of it, so that the connection must not be used again. */
  get isAmbiguous(): boolean {
    return this.#bound.isAmbiguous;
  }

  sendRequestOverConnection(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#bytesBefore = this.#socket?.bytesRead ?? 0;
    this.#bound.resetResponseByteCount();
    this.#client.dispatch(request, handler);
  }

  /** Reports that the request is written now. Bytes that arrived earlier are not part of its answer. */
  reportRequestWritten(): void {
    this.#bound.resetHeadFilterForNextResponse();
  }

  /** Closes the connection if more bytes were received than any answer needs. */
  closeConnectionAboveByteLimit(): void {
    const bytes = (this.#socket?.bytesRead ?? 0) - this.#bytesBefore;
    if (bytes > MAX_RECEIVED_RESPONSE_BYTES) this.destroyConnection(new AnswerTooLongError());
  }

  /** Closes the socket, even while the socket is being opened. A request on the connection fails. */
  destroyConnection(reason: Error | null = null): void {
    void this.#client.destroy(reason);
    this.#socket?.destroy();
  }
}

interface OriginConnections {
  /**
   * Idle connections, most recently used last. The most recently used connection is used next, so that the others can
   * expire.
   */
  readonly idle: ReceiverConnection[];
  open: number;
  /** Waiters, in order of arrival. */
  readonly waiting: Set<ConnectionWaiter>;
}

/** Connections of all origins. An origin is removed with its last connection. */
export class ReceiverConnectionPool {
  readonly #origins = new Map<string, OriginConnections>();
  /** Idle connections of all origins. The connection that was idle longest comes first. */
  readonly #idle = new Set<ReceiverConnection>();
  readonly #open = new Set<ReceiverConnection>();
  #check: NodeJS.Timeout | undefined;
  #checkInUse: NodeJS.Timeout | undefined;

  constructor(
    private readonly connector: Connector,
    private readonly settings: ReceiverConnectionLimits,
  ) {}

  get open(): number {
    return this.#open.size;
  }
  get idle(): number {
    return this.#idle.size;
  }

  /** Runs the waiter immediately on a free connection, or as soon as one is free. */
  acquireReceiverConnection(waiter: ConnectionWaiter): void {
    const origin = this.#origins.get(waiter.origin);
    const idle = origin?.idle.pop();
    if (idle !== undefined) {
      this.#idle.delete(idle);
      this.#startOrEndChecksInUse();
      waiter.sendRequestOnConnection(idle);
    } else if (origin === undefined || origin.open < this.settings.maxConnectionsPerOrigin) {
      waiter.sendRequestOnConnection(this.#openConnectionTo(waiter.origin));
    } else {
      origin.waiting.add(waiter);
    }
  }

  /** Removes a waiter that was canceled before it ran. */
  removeWaiter(waiter: ConnectionWaiter): void {
    this.#origins.get(waiter.origin)?.waiting.delete(waiter);
  }

  /** Returns a connection to the pool after a complete answer. */
  releaseConnection(connection: ReceiverConnection): void {
    connection.answers += 1;
    const origin = this.#origins.get(connection.origin);
    const isOld = performance.now() - connection.openedAt > this.settings.maxConnectionAgeMs;
    if (origin === undefined || isOld || connection.isAmbiguous) {
      this.discardConnection(connection);
      return;
    }
    const next = takeFirstIdleConnection(origin.waiting);
    if (next !== undefined) {
      next.sendRequestOnConnection(connection);
      return;
    }
    origin.idle.push(connection);
    this.#idle.add(connection);
    this.#startOrEndChecksInUse();
    if (this.#idle.size > this.settings.maxIdleConnections) {
      const [oldest] = this.#idle;
      if (oldest !== undefined) this.#closeConnectionIfIdle(oldest);
    }
  }

  /** Closes a connection that cannot be used again. */
  discardConnection(connection: ReceiverConnection): void {
    const waiting = this.#origins.get(connection.origin)?.waiting;
    const next = waiting && takeFirstIdleConnection(waiting);
    this.#closeConnection(connection);
    next?.sendRequestOnConnection(this.#openConnectionTo(next.origin));
  }

  /** Closes a connection and opens another in its place. */
  replaceConnection(connection: ReceiverConnection): ReceiverConnection {
    this.#closeConnection(connection);
    return this.#openConnectionTo(connection.origin);
  }

  /** Closes the idle connections. */
  closeIdleConnections(): void {
    for (const connection of this.#idle) this.#closeConnectionIfIdle(connection);
  }

  #openConnectionTo(key: string): ReceiverConnection {
    let origin = this.#origins.get(key);
    if (origin === undefined) {
      origin = { idle: [], open: 0, waiting: new Set() };
      this.#origins.set(key, origin);
    }
    origin.open += 1;
    const opened = new ReceiverConnection(key, this.connector, this.settings, (connection) =>
      this.#closeConnectionIfIdle(connection),
    );
    this.#open.add(opened);
    this.#check ??= setInterval(closeConnectionsAboveByteLimit, RECEIVED_BYTES_CHECK_INTERVAL_MS, this.#open).unref();
    this.#startOrEndChecksInUse();
    return opened;
  }

  /** A process that sends single requests would otherwise be woken by the check more often than by answers. */
  #startOrEndChecksInUse(): void {
    if (this.#open.size > this.#idle.size) {
      const [check, intervalMs] = [closeConnectionsAboveByteLimit, RECEIVED_BYTES_CHECK_INTERVAL_IN_USE_MS];
      this.#checkInUse ??= setInterval(check, intervalMs, this.#open).unref();
    } else {
      clearInterval(this.#checkInUse);
      this.#checkInUse = undefined;
    }
  }

  #closeConnectionIfIdle(connection: ReceiverConnection): void {
    if (!this.#idle.delete(connection)) return;
    const idle = this.#origins.get(connection.origin)?.idle;
    idle?.splice(idle.indexOf(connection), 1);
    this.#closeConnection(connection);
  }

  #closeConnection(connection: ReceiverConnection): void {
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
    this.#startOrEndChecksInUse();
    connection.destroyConnection();
  }
}

function closeConnectionsAboveByteLimit(open: ReadonlySet<ReceiverConnection>): void {
  for (const connection of open) connection.closeConnectionAboveByteLimit();
}

function takeFirstIdleConnection<T>(set: Set<T>): T | undefined {
  for (const first of set) {
    set.delete(first);
    return first;
  }
  return undefined;
}

export class AnswerTooLongError extends Error {
  override readonly name = 'AnswerTooLongError';
}

/** Limits the bytes of an answer that its parser may read, and closes the socket if more arrive. */
class ResponseSizeLimiter {
  #left = MAX_ANSWER_BYTES;
  readonly #head = new ResponseHeadFilter();

  get isAmbiguous(): boolean {
    return this.#head.isAmbiguous;
  }

  /** Resets the byte count for the next response. */
  resetResponseByteCount(): void {
    this.#left = MAX_ANSWER_BYTES;
  }

  /** Treats the next byte as the beginning of a response. */
  resetHeadFilterForNextResponse(): void {
    this.#head.startFilteringNextResponseHead();
  }

  /** Limits the decrypted bytes read from this socket from now on. */
  limitBytesOfSocket(socket: Socket): void {
    const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
    let received: Buffer | null = null;
    let filtered: Buffer | null = null;
    socket.read = (size?: number) => {
      for (;;) {
        // The socket is destroyed at the next read and not earlier, because the bytes within the limit may already
        // suffice.
        if (filtered === null && this.#left < 0) socket.destroy(new AnswerTooLongError());
        if (socket.destroyed) return null;
        if (filtered === null) {
          received ??= read(size);
          if (received === null) return null;
          const piece = received.subarray(0, MAX_PARSED_CHUNK_BYTES);
          received = dropLeadingBytes(received, MAX_PARSED_CHUNK_BYTES);
          this.#left -= piece.length;
          filtered = this.#head.filterResponseHeadBytes(this.#left < 0 ? piece.subarray(0, this.#left) : piece);
        }
        const piece = filtered.subarray(0, MAX_PARSED_CHUNK_BYTES);
        filtered = dropLeadingBytes(filtered, MAX_PARSED_CHUNK_BYTES);
        if (piece.length > 0) return piece;
      }
    };
  }
}

/** Returns the bytes after the first `count`; null if there are none. */
function dropLeadingBytes(bytes: Buffer, count: number): Buffer | null {
  return bytes.length > count ? bytes.subarray(count) : null;
}
