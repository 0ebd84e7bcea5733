import { Duplex } from 'node:stream';
import { SocketErrorResponder } from './fastify-adapter.ts';

/** Returns the text that a client receives, and whether its connection was closed. */
async function answered(error: { code?: string; reason?: string }) {
  let text = '';
  const socket = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  const closed = new Promise<void>((resolve) => socket.once('close', resolve));
  new SocketErrorResponder({ 'Cache-Control': 'no-store' }).sendErrorForUnparsableHttpRequest(
    Object.assign(new Error('Parse Error'), error),
    socket,
  );
  await closed;
  return text;
}

describe('an invalid HTTP request', () => {
  it.each([
    [
      'ERR_HTTP_REQUEST_TIMEOUT',
      undefined,
      '408 Request Timeout',
      'request_timeout',
      'The request did not arrive in time.',
    ],
    [
      'HPE_HEADER_OVERFLOW',
      undefined,
      '431 Request Header Fields Too Large',
      'headers_too_large',
      'The headers of the request are larger than 16384 bytes in total.',
    ],
    [
      'HPE_INVALID_METHOD',
      'Invalid method encountered',
      '400 Bad Request',
      'validation_failed',
      'The request is not valid HTTP: Invalid method encountered.',
    ],
    ['HPE_UNKNOWN', undefined, '400 Bad Request', 'validation_failed', 'The request is not valid HTTP.'],
  ])('gets a response for %s', async (code, reason, status, expected, message) => {
    const text = await answered({ code, ...(reason && { reason }) });
    const [head = '', body = ''] = text.split('\r\n\r\n');
    const id = /\r\nRequest-Id: (req_[0-9a-f]{32})/.exec(head)?.[1];
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n`));
    expect(head).toContain(`\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`);
    expect(head).toContain('\r\nConnection: close');
    expect(head).toContain('\r\nCache-Control: no-store');
    expect(JSON.parse(body)).toEqual({
      error: { type: 'invalid_request', code: expected, message, param: null, details: [], request_id: id },
    });
  });

  it('is not answered if the client has disconnected', async () => {
    expect(await answered({ code: 'ECONNRESET' })).toBe('');
  });
});
