import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import type { RawBehaviour } from './receiver.ts';
import { waitForSimulatedDelay } from './eventually.ts';

const OK_STATUS_LINE = 'HTTP/1.1 200 OK\r\n';
const CHUNKED_HEADERS = `${OK_STATUS_LINE}transfer-encoding: chunked\r\n\r\n`;

/** Endless responses: each has a beginning and a part that is repeated. */
export const endlessResponses = {
  body: [`${OK_STATUS_LINE}content-length: 1000000000\r\n\r\n`, 'x'],
  chunks: [CHUNKED_HEADERS, '8\r\nxxxxxxxx\r\n'],
  chunkExtension: [`${CHUNKED_HEADERS}1;x=`, 'x'],
  chunkExtensions: [CHUNKED_HEADERS, `1;${'x'.repeat(1000)}\r\nx\r\n`],
  chunkSize: [CHUNKED_HEADERS, '0'],
  trailers: [`${CHUNKED_HEADERS}0\r\n`, 'x-more: x\r\n'],
  headers: [OK_STATUS_LINE, 'x-more: x\r\n'],
  header: [`${OK_STATUS_LINE}x-long: `, 'x'],
  spaceInHeader: [`${OK_STATUS_LINE}x-long:`, ' '],
  reason: ['HTTP/1.1 200 ', 'x'],
  emptyLines: ['', '\r\n'],
  information100: ['', 'HTTP/1.1 100 Continue\r\n\r\n'],
  lengths: [OK_STATUS_LINE, 'content-length: 1\r\n'],
  information102: ['', 'HTTP/1.1 102 Processing\r\n\r\n'],
  information103: ['', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
} as const satisfies Readonly<Record<string, readonly [beginning: string, part: string]>>;

/** Behaviours of receivers, named by their effect on a client. Repeated actions continue until the socket closes. */
export const hostileReceiverBehaviours = {
  /** Sends a valid response. */
  answers:
    (status = 200, body: string | Buffer = 'ok', headers: Readonly<Record<string, string>> = {}): RawBehaviour =>
    (socket) =>
      socket.write(formatHttpResponse(status, body, headers)),
  answersAfter:
    (delayMs: number, status = 200, body = 'ok'): RawBehaviour =>
    (socket) =>
      runAfterDelayUnlessClosed(socket, delayMs, () => socket.write(formatHttpResponse(status, body))),
  redirects: (location: string, status = 302): RawBehaviour =>
    hostileReceiverBehaviours.answers(status, '', { location }),
  /** Closes the connection after the response without announcing the close. */
  closesAfterAnswer: (): RawBehaviour => (socket) => socket.end(formatHttpResponse(200, 'ok')),
  /** Sends a response that announces the close of the connection, and closes it. */
  saysClose: (): RawBehaviour => (socket) => socket.end(formatHttpResponse(200, 'ok', { connection: 'close' })),
  /** Sends a body that ends with the connection (HTTP/1.0). */
  endsWithConnection:
    (body = 'ok'): RawBehaviour =>
    (socket) =>
      socket.end(`HTTP/1.0 200 OK\r\n\r\n${body}`),
  /** Accepts the request and never responds. */
  hangs: (): RawBehaviour => () => undefined,
  hangsAfterHeaders: (): RawBehaviour => (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n'),
  hangsWithinHeaders: (): RawBehaviour => (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-le'),
  /** Sends one part of a response at a time and never ends. */
  drips:
    ([beginning, part]: readonly [string, string] = endlessResponses.body, everyMs = 20): RawBehaviour =>
    (socket) => {
      socket.write(beginning);
      repeatUntilClosed(socket, everyMs, () => socket.write(part));
    },
  /** Sends an informational response before the final one. */
  informsFirst:
    (status: number): RawBehaviour =>
    (socket) =>
      socket.write(`HTTP/1.1 ${status} Wait\r\n\r\n${formatHttpResponse(200, 'ok').toString()}`),
  resets: (): RawBehaviour => resetConnection,
  resetsWithinBody: (): RawBehaviour => (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc');
    runAfterDelayUnlessClosed(socket, 20, () => resetConnection(socket));
  },
  /** Ends the connection (FIN) instead of responding, and continues to read. */
  halfCloses: (): RawBehaviour => (socket) => socket.end(),
  /** Announces more body bytes than it sends, then closes the connection. */
  claimsMore: (): RawBehaviour => (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nshort'),
  /** Announces fewer body bytes than it sends: the rest looks like the response to the next request. */
  claimsLess: (): RawBehaviour => (socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 500 Stolen\r\ncontent-length: 0\r\n\r\n'),
  /** Announces both a length and chunks (response splitting). */
  claimsTwice: (): RawBehaviour => (socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'),
  /** Sends hundreds of megabytes of zeros, compressed to a few hundred kilobytes. */
  gzipBomb:
    (megabytes = 256): RawBehaviour =>
    (socket) =>
      socket.write(formatHttpResponse(200, createGzipBomb(megabytes), { 'content-encoding': 'gzip' })),
  /** Sends a part repeatedly, as fast as the client reads. */
  floods:
    ([beginning, part]: readonly [string, string] = endlessResponses.chunks) =>
    (socket: Socket): void => {
      const parts = Buffer.from(part.repeat(Math.ceil(0x10000 / part.length)));
      socket.write(beginning);
      const pump = () => {
        while (!socket.destroyed && socket.write(parts));
      };
      socket.on('drain', pump);
      pump();
    },
  /** Sends one header with the given number of bytes. */
  hugeHeader:
    (bytes: number): RawBehaviour =>
    (socket) =>
      socket.write(formatHttpResponse(200, 'ok', { 'x-huge': 'h'.repeat(bytes) })),
  manyHeaders:
    (count: number): RawBehaviour =>
    (socket) =>
      socket.write(
        formatHttpResponse(200, 'ok', Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, 'v']))),
      ),
  /** Sends arbitrary bytes. */
  says:
    (bytes: string | Buffer): RawBehaviour =>
    (socket) =>
      socket.write(bytes),
} as const;

let cachedGzipBomb: { readonly megabytes: number; readonly bytes: Buffer } | undefined;
/** Returns compressed zeros. The result for one size is cached, because compression takes a second. */
function createGzipBomb(megabytes: number): Buffer {
  if (cachedGzipBomb?.megabytes !== megabytes) {
    // Gzip members can be concatenated (RFC 1952), so only one megabyte needs compression.
    const member = gzipSync(Buffer.alloc(1024 * 1024));
    cachedGzipBomb = { megabytes, bytes: Buffer.concat(Array<Buffer>(megabytes).fill(member)) };
  }
  return cachedGzipBomb.bytes;
}

function formatHttpResponse(
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const bytes = Buffer.from(body);
  const fields = Object.entries({ 'content-length': String(bytes.length), ...headers });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Status\r\n${head}\r\n`), bytes]);
}

/** Resets the TCP connection, or destroys a TLS socket, which Node cannot reset. */
function resetConnection(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

function runAfterDelayUnlessClosed(socket: Socket, delayMs: number, act: () => void): void {
  const closed = new AbortController();
  const close = () => closed.abort();
  socket.once('close', close);
  waitForSimulatedDelay(delayMs, closed.signal).then(
    () => {
      socket.off('close', close);
      act();
    },
    () => undefined,
  );
}

function repeatUntilClosed(socket: Socket, everyMs: number, act: () => void): void {
  const timer = setInterval(act, everyMs);
  socket.once('close', () => clearInterval(timer));
}
