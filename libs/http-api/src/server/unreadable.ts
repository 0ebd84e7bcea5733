import { STATUS_CODES, maxHeaderSize } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '@tracking/contracts';
import { errorBody } from '../errors/error-answer.ts';
import { statusOf } from '../errors/error-status.ts';
import { newRequestId } from './request.ts';

/** What is not HTTP enough to become a request: answered on the bare socket, then closed. */
export function answerUnreadable(error: Error & { code?: string; reason?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
  } else if (error.code === 'HPE_HEADER_OVERFLOW') {
    answer(socket, 'headers_too_large', `The headers are larger than ${maxHeaderSize} bytes together.`);
  } else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    answer(socket, 'request_timeout', 'The request did not arrive in time.');
  } else {
    const reason = error.reason ? `: ${error.reason}` : '';
    answer(socket, 'validation_failed', `The request is not valid HTTP${reason}.`);
  }
}

/** This is no proxy. */
export function answerConnect(socket: Duplex): void {
  answer(socket, 'method_not_allowed', 'CONNECT is not possible here.', ['Allow: ']);
}

function answer(socket: Duplex, code: ErrorCode, message: string, headers: readonly string[] = []): void {
  // Node listens no more where it hands a socket over: one that breaks now must not end the process.
  socket.on('error', () => socket.destroy());
  const requestId = newRequestId();
  const body = JSON.stringify(errorBody({ code, message, details: [] }, requestId));
  const status = statusOf(code);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${requestId}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    ...headers,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
