import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Counter, Metrics } from '@tracking/ports';

export interface ConnectionLimits {
  /** Maximum number of open connections of this process. */
  readonly maxConnections: number;
  /** Maximum number of open connections of one network. */
  readonly maxPerNetwork: number;
  /** Milliseconds after which the server disconnects a client that neither sends nor reads. */
  readonly stalledMs: number;
}

/**
 * Default limits for a process with 1 GiB of memory. An idle connection costs about 10 KB, and a connection with an
 * incomplete body costs up to 128 KB; see `hostile-connections.faults.spec.ts`.
 */
export const CONNECTION_LIMITS: ConnectionLimits = {
  maxConnections: 8_000,
  maxPerNetwork: 1_000,
  stalledMs: 30_000,
};

/**
 * Maximum number of requests that one connection may send before the response to an earlier request is complete (HTTP
 * pipelining).
 */
const MAX_PIPELINED_REQUESTS = 100;

interface GuardedConnection {
  readonly network: string | undefined;
  /** Response to the latest request of the connection, until the response is sent. */
  response: ServerResponse | undefined;
}

interface ConnectionGuardOptions extends Partial<ConnectionLimits> {
  /** Metrics that count open and closed connections. If absent, connections are not counted. */
  readonly metrics?: Metrics;
  /**
   * Returns the network that the connections of an address count for; undefined for a proxy, which has no limit of its
   * own.
   */
  readonly networkOf: (address: string) => string | undefined;
  /** Responds to a refused connection and ends it. If absent, the connection is closed without a response. */
  readonly refuse?: (socket: Socket) => void;
}

/**
 * Limits the connections of an HTTP server, in total and per network, and disconnects clients that do not read their
 * responses. When the server is full, the network with the most connections loses its oldest idle connection, or its
 * oldest one, so that one network cannot keep out the others.
 */
export class HttpConnectionLimiter {
  private readonly limits: ConnectionLimits;
  private readonly open = new Map<Socket, GuardedConnection>();
  private readonly byNetwork = new Map<string, Set<Socket>>();
  private readonly closed: Counter | undefined;

  constructor(private readonly options: ConnectionGuardOptions) {
    this.limits = { ...CONNECTION_LIMITS, ...options };
    const { metrics } = options;
    metrics?.createGauge('http_connections_open', 'Open client connections.', [], () => this.open.size);
    this.closed = metrics?.createCounter('http_connections_closed_total', 'Connections closed by a limit.', ['reason']);
  }

  /** Guards the connections of this server until it closes. */
  guardServerConnections(server: Server): void {
    server.on('connection', (socket: Socket) => this.admitConnection(socket));
    server.on('request', (request: IncomingMessage, response: ServerResponse) =>
      this.onRequestStart(request, response),
    );
    // Node measures the time without progress of a request. Between requests, Node's time limit for idle connections
    // applies instead.
    server.timeout = this.limits.stalledMs;
    server.on('timeout', (socket: Socket) => this.closeTimedOutConnection(socket));
  }

  private admitConnection(socket: Socket): void {
    const network = socket.remoteAddress === undefined ? undefined : this.options.networkOf(socket.remoteAddress);
    const own = network === undefined ? 0 : (this.byNetwork.get(network)?.size ?? 0);
    if (own >= this.limits.maxPerNetwork) return this.refuseConnection(socket, 'network_limit');
    if (this.open.size >= this.limits.maxConnections && !this.closeConnectionOfLargestNetwork(own))
      return this.refuseConnection(socket, 'total_limit');
    this.registerAcceptedConnection(socket, network);
  }

  private registerAcceptedConnection(socket: Socket, network: string | undefined): void {
    this.open.set(socket, { network, response: undefined });
    if (network !== undefined) {
      const sockets = this.byNetwork.get(network) ?? new Set();
      this.byNetwork.set(network, sockets.add(socket));
    }
    socket.once('close', () => this.removeConnection(socket));
  }

  private removeConnection(socket: Socket): void {
    const network = this.open.get(socket)?.network;
    this.open.delete(socket);
    if (network === undefined) return;
    const sockets = this.byNetwork.get(network);
    sockets?.delete(socket);
    if (sockets?.size === 0) this.byNetwork.delete(network);
  }

  /**
   * Closes a connection of the network with the most connections. Returns false if the new connection's network would
   * have at least as many as that network before: closing one would only exchange one client for another.
   */
  private closeConnectionOfLargestNetwork(own: number): boolean {
    let largest = new Set<Socket>();
    for (const sockets of this.byNetwork.values()) if (sockets.size > largest.size) largest = sockets;
    if (largest.size <= own + 1) return false;
    const [oldest] = largest;
    const idle = [...largest].find((socket) => this.open.get(socket)?.response === undefined);
    this.destroyConnectionAndCountReason(idle ?? oldest, 'total_limit');
    return true;
  }

  private onRequestStart({ socket }: IncomingMessage, response: ServerResponse): void {
    const connection = this.open.get(socket);
    if (connection === undefined) return;
    connection.response = response;
    response.once('close', () => {
      if (connection.response === response) connection.response = undefined;
    });
  }

  private closeTimedOutConnection(socket: Socket): void {
    const isAnswering = this.open.get(socket)?.response !== undefined;
    // The response is not ready or the request body is not complete. Other time limits apply to both cases.
    if (isAnswering && socket.writableLength === 0) return;
    this.destroyConnectionAndCountReason(socket, isAnswering ? 'stalled' : 'idle');
  }

  private destroyConnectionAndCountReason(socket: Socket | undefined, reason: string): void {
    if (socket === undefined) return;
    this.closed?.add(1, { reason });
    this.removeConnection(socket);
    socket.destroy();
  }

  private refuseConnection(socket: Socket, reason: string): void {
    this.closed?.add(1, { reason });
    socket.pause();
    if (this.options.refuse === undefined) socket.destroy();
    else this.options.refuse(socket);
  }
}

/**
 * Handles the requests of one connection one after another: a request begins when the response to the previous one is
 * sent. Node begins all requests that arrive together, so that one connection could make a server prepare hundreds of
 * responses. A connection with more than 100 waiting requests is closed. Requests that wait behind a response with
 * `Connection: close` never begin (RFC 9112, 9.6).
 */
export function handleRequestsInOrder(handle: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, [IncomingMessage, ServerResponse][]>();
  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    response.once('close', () => {
      const queue = waiting.get(socket);
      const next = socket.writable ? queue?.shift() : undefined;
      if (next === undefined) {
        waiting.delete(socket);
        return;
      }
      if (queue?.length === 0) socket.resume();
      begin(...next);
    });
    handle(request, response);
  };
  return (request, response) => {
    const queue = waiting.get(request.socket);
    if (queue === undefined) {
      waiting.set(request.socket, []);
      begin(request, response);
    } else if (queue.length >= MAX_PIPELINED_REQUESTS) {
      request.socket.destroy();
    } else {
      queue.push([request, response]);
      request.socket.pause();
    }
  };
}
