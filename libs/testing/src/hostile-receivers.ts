import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import type { RawBehaviour } from './receiver.ts';
import { takeTime } from './eventually.ts';

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKS = `${OK}transfer-encoding: chunked\r\n\r\n`;

/** Answers that never end: how they begin, and what follows over and over. */
export const endless = {
  body: [`${OK}content-length: 1000000000\r\n\r\n`, 'x'],
  chunks: [CHUNKS, '8\r\nxxxxxxxx\r\n'],
  chunkExtension: [`${CHUNKS}1;x=`, 'x'],
  chunkExtensions: [CHUNKS, `1;${'x'.repeat(1000)}\r\nx\r\n`],
  chunkSize: [CHUNKS, '0'],
  trailers: [`${CHUNKS}0\r\n`, 'x-more: x\r\n'],
  headers: [OK, 'x-more: x\r\n'],
  header: [`${OK}x-long: `, 'x'],
  spaceInHeader: [`${OK}x-long:`, ' '],
  reason: ['HTTP/1.1 200 ', 'x'],
  emptyLines: ['', '\r\n'],
  information102: ['', 'HTTP/1.1 102 Processing\r\n\r\n'],
  information103: ['', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
} as const satisfies Readonly<Record<string, readonly [beginning: string, part: string]>>;

/** Behaviours by what they do to a client. What they do again and again goes on until the socket closes. */
export const receivers = {
  /** A proper answer. */
  answers:
    (status = 200, body: string | Buffer = 'ok', headers: Readonly<Record<string, string>> = {}): RawBehaviour =>
    (socket) =>
      socket.write(message(status, body, headers)),
  answersAfter:
    (delayMs: number, status = 200, body = 'ok'): RawBehaviour =>
    (socket) =>
      later(socket, delayMs, () => socket.write(message(status, body))),
  redirects: (location: string, status = 302): RawBehaviour => receivers.answers(status, '', { location }),
  /** Answers, says nothing about closing, and closes. */
  closesAfterAnswer: (): RawBehaviour => (socket) => socket.end(message(200, 'ok')),
  /** Answers and says that it closes. */
  saysClose: (): RawBehaviour => (socket) => socket.end(message(200, 'ok', { connection: 'close' })),
  /** The body ends where the connection does (HTTP/1.0). */
  endsWithConnection:
    (body = 'ok'): RawBehaviour =>
    (socket) =>
      socket.end(`HTTP/1.0 200 OK\r\n\r\n${body}`),
  /** Takes the request and never says a word. */
  hangs: (): RawBehaviour => () => undefined,
  hangsAfterHeaders: (): RawBehaviour => (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n'),
  hangsWithinHeaders: (): RawBehaviour => (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-le'),
  /** A part at a time, without end. */
  drips:
    ([beginning, part]: readonly [string, string] = endless.body, everyMs = 20): RawBehaviour =>
    (socket) => {
      socket.write(beginning);
      repeat(socket, everyMs, () => socket.write(part));
    },
  /** An informational answer before the real one. */
  informsFirst:
    (status: number): RawBehaviour =>
    (socket) =>
      socket.write(`HTTP/1.1 ${status} Wait\r\n\r\n${message(200, 'ok').toString()}`),
  resets: (): RawBehaviour => reset,
  resetsWithinBody: (): RawBehaviour => (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc');
    later(socket, 20, () => reset(socket));
  },
  /** Sends its FIN instead of an answer, and goes on reading. */
  halfCloses: (): RawBehaviour => (socket) => socket.end(),
  /** Declares more than it sends, then closes. */
  claimsMore: (): RawBehaviour => (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nshort'),
  /** Declares less than it sends: the rest would be taken for the answer to the next request. */
  claimsLess: (): RawBehaviour => (socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 500 Stolen\r\ncontent-length: 0\r\n\r\n'),
  /** Declares a length and chunks at once (request smuggling's other half). */
  claimsTwice: (): RawBehaviour => (socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'),
  /** Hundreds of megabytes of zeros in a few hundred kilobytes. */
  gzipBomb:
    (megabytes = 256): RawBehaviour =>
    (socket) =>
      socket.write(message(200, bomb(megabytes), { 'content-encoding': 'gzip' })),
  /** The same as fast as it is read. */
  floods:
    ([beginning, part]: readonly [string, string] = endless.chunks) =>
    (socket: Socket): void => {
      const parts = Buffer.from(part.repeat(Math.ceil(0x10000 / part.length)));
      socket.write(beginning);
      const pump = () => {
        while (!socket.destroyed && socket.write(parts));
      };
      socket.on('drain', pump);
      pump();
    },
  /** One header of this many bytes. */
  hugeHeader:
    (bytes: number): RawBehaviour =>
    (socket) =>
      socket.write(message(200, 'ok', { 'x-huge': 'h'.repeat(bytes) })),
  manyHeaders:
    (count: number): RawBehaviour =>
    (socket) =>
      socket.write(message(200, 'ok', Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, 'v'])))),
  /** Whatever bytes. */
  says:
    (bytes: string | Buffer): RawBehaviour =>
    (socket) =>
      socket.write(bytes),
} as const;

let bombs: { readonly megabytes: number; readonly bytes: Buffer } | undefined;
/** Packed once per size: it takes a second. */
function bomb(megabytes: number): Buffer {
  if (bombs?.megabytes !== megabytes) {
    // Members may follow each other (RFC 1952), so that one megabyte is all that need be packed.
    const member = gzipSync(Buffer.alloc(1024 * 1024));
    bombs = { megabytes, bytes: Buffer.concat(Array<Buffer>(megabytes).fill(member)) };
  }
  return bombs.bytes;
}

function message(status: number, body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Buffer {
  const bytes = Buffer.from(body);
  const fields = Object.entries({ 'content-length': String(bytes.length), ...headers });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Status\r\n${head}\r\n`), bytes]);
}

/** A TCP reset; over TLS, where Node knows none, a close without farewell. */
function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

function later(socket: Socket, delayMs: number, act: () => void): void {
  const closed = new AbortController();
  const close = () => closed.abort();
  socket.once('close', close);
  takeTime(delayMs, closed.signal).then(
    () => {
      socket.off('close', close);
      act();
    },
    () => undefined,
  );
}

function repeat(socket: Socket, everyMs: number, act: () => void): void {
  const timer = setInterval(act, everyMs);
  socket.once('close', () => clearInterval(timer));
}
