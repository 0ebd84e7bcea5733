import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { TestCertificate } from './certificates.ts';

/** A request as it came over the wire. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Which connection it came on, from 1. */
  readonly connection: number;
}

/** Handles a request: writes anything to the socket, or nothing. */
export type RawBehaviour = (socket: Socket, request: ReceivedRequest) => void;

export interface RawReceiver {
  /** `http://127.0.0.1:<port>` or `https://…`, without a path. */
  readonly origin: string;
  readonly port: number;
  /** In the order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  /** Opened so far (for TLS: handshakes done). */
  readonly connections: number;
  /** Open now. */
  readonly openConnections: number;
  /** From now on. */
  behave(behaviour: RawBehaviour): void;
  /** Closes the open connections, as a server does that has had enough of idle ones. */
  dropConnections(): void;
  close(): Promise<void>;
}

export interface ReceiverOptions {
  /** Serve HTTPS with this certificate. */
  readonly tls?: TestCertificate;
  /** Loopback address to listen on; 127.0.0.1 unless told. */
  readonly host?: '127.0.0.1' | '::1';
}

/**
 * A receiver on loopback that speaks raw bytes, so that it can be as wrong as a behaviour wants. Sockets never time out
 * by themselves.
 */
export async function startReceiver(behaviour: RawBehaviour, options: ReceiverOptions = {}): Promise<RawReceiver> {
  const { tls, host = '127.0.0.1' } = options;
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  let present = behaviour;

  const serve = (socket: Socket) => {
    connections += 1;
    const connection = connections;
    readRequests(socket, (request) => {
      const received = { ...request, connection };
      requests.push(received);
      present(socket, received);
    });
  };
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // Clients that give up are part of the game.
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
    behave(next) {
      present = next;
    },
    dropConnections,
    close() {
      dropConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Reads requests with a `Content-Length`, as this platform sends them, also several on one connection. */
function readRequests(socket: Socket, onRequest: (request: Omit<ReceivedRequest, 'connection'>) => void): void {
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
