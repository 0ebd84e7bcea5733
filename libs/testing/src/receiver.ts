import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { TestCertificate } from './certificates.ts';

/** Request that the receiver got on a connection. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Headers with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Number of the connection, starting at 1. */
  readonly connection: number;
}

/** Handles a request by writing any bytes to the socket, or none. */
export type RawBehaviour = (socket: Socket, request: ReceivedRequest) => void;

export interface HttpTestReceiver {
  /** Base URL `http://127.0.0.1:<port>` or `https://…`, without a path. */
  readonly origin: string;
  readonly port: number;
  /** Received requests, in order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  /** Number of connections opened so far (for TLS: completed handshakes). */
  readonly connections: number;
  /** Number of connections that are currently open. */
  readonly openConnections: number;
  /** Changes the behaviour for all further requests. */
  setReceiverBehaviour(behaviour: RawBehaviour): void;
  /** Closes the open connections, like a server that closes idle connections. */
  dropConnections(): void;
  close(): Promise<void>;
}

export interface ReceiverOptions {
  /** Certificate for HTTPS. If absent, the receiver uses plain HTTP. */
  readonly tls?: TestCertificate;
  /** Loopback address to listen on; 127.0.0.1 by default. */
  readonly host?: '127.0.0.1' | '::1';
}

/**
 * Starts a receiver on loopback that writes raw bytes, so that its responses can be invalid in any way. Sockets never
 * time out.
 */
export async function startReceiver(behaviour: RawBehaviour, options: ReceiverOptions = {}): Promise<HttpTestReceiver> {
  const { tls, host = '127.0.0.1' } = options;
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  let present = behaviour;

  const serve = (socket: Socket) => {
    connections += 1;
    const connection = connections;
    readHttpRequests(socket, (request) => {
      const received = { ...request, connection };
      requests.push(received);
      present(socket, received);
    });
  };
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // An error of the socket is ignored, because tests expect clients that disconnect.
    socket.on('error', () => undefined);
  };
  const server: Server =
    tls === undefined
      ? createTcpServer({ noDelay: true }, serve)
      : createTlsServer({ ...tls, noDelay: true }, (socket) => {
          socket.on('error', () => undefined);
          serve(socket);
        }).on('tlsClientError', () => undefined);
  server.on('connection', track);
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;

  const dropConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    origin: `${tls === undefined ? 'http' : 'https'}://${host === '::1' ? '[::1]' : host}:${port}`,
    port,
    requests,
    get connections() {
      return connections;
    },
    get openConnections() {
      return sockets.size;
    },
    setReceiverBehaviour(next) {
      present = next;
    },
    dropConnections,
    close() {
      dropConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Reads requests with a `Content-Length`, as this platform sends them. One connection can have several requests. */
function readHttpRequests(socket: Socket, onRequest: (request: Omit<ReceivedRequest, 'connection'>) => void): void {
  let unread = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
    for (;;) {
      const headEnd = unread.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const [requestLine = '', ...lines] = unread.toString('latin1', 0, headEnd).split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
      );
      const end = headEnd + 4 + Number(headers['content-length'] ?? 0);
      if (unread.length < end) return;
      const [method = '', path = ''] = requestLine.split(' ');
      const body = unread.subarray(headEnd + 4, end);
      unread = unread.subarray(end);
      onRequest({ method, path, headers, body });
    }
  });
}
