import { STATUS_CODES, maxHeaderSize } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '@tracking/contracts';
import { errorBody } from '../errors/error-answer.ts';
import { statusOf } from '../errors/error-status.ts';
import { newRequestId } from './request.ts';
import type { Headers } from './response-headers.ts';

/** What is not HTTP enough to become a request: answered on the bare socket, then closed. */
export class BareAnswers {
  /** @param headers of every answer */
  constructor(private readonly headers: Headers) {}

  unreadable(error: Error & { code?: string; reason?: string }, socket: Duplex): void {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
    } else if (error.code === 'HPE_HEADER_OVERFLOW') {
      this.answer(socket, 'headers_too_large', `The headers are larger than ${maxHeaderSize} bytes together.`);
    } else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      this.late(socket);
    } else {
      const reason = error.reason ? `: ${error.reason}` : '';
      this.answer(socket, 'validation_failed', `The request is not valid HTTP${reason}.`);
    }
  }

  /** The rest of the request is waited for no longer. */
  late(socket: Duplex): void {
    this.answer(socket, 'request_timeout', 'The request did not arrive in time.');
  }

  /** This is no proxy. */
  connect(socket: Duplex): void {
    this.answer(socket, 'method_not_allowed', 'CONNECT is not possible here.', { Allow: '' });
  }

  private answer(socket: Duplex, code: ErrorCode, message: string, headers: Headers = {}): void {
    answer(socket, { code, message, details: [] }, { ...this.headers, ...headers });
  }
}

function answer(socket: Duplex, error: Parameters<typeof errorBody>[0], headers: Headers): void {
  // Node listens no more where it hands a socket over: one that breaks now must not end the process.
  socket.on('error', () => socket.destroy());
  const requestId = newRequestId();
  const body = JSON.stringify(errorBody(error, requestId));
  const status = statusOf(error.code);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${requestId}`,
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
