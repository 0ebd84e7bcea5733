import fc from 'fast-check';
import { ResponseHeadFilter } from './response-head.ts';

/** Filters a response that arrives in pieces of the given sizes. The last size repeats. */
function filterInPieces(response: string, sizes: readonly number[]): { readonly out: string; isAmbiguous: boolean } {
  const filter = new ResponseHeadFilter();
  filter.startFilteringNextResponseHead();
  const bytes = Buffer.from(response, 'latin1');
  let out = '';
  let at = 0;
  for (let index = 0; at < bytes.length; index += 1) {
    const size = sizes[Math.min(index, sizes.length - 1)] ?? 1;
    out += filter.filterResponseHeadBytes(bytes.subarray(at, at + size)).toString('latin1');
    at += size;
  }
  return { out, isAmbiguous: filter.isAmbiguous };
}
const filterWhole = (response: string) => filterInPieces(response, [response.length]);
const OK = 'HTTP/1.1 200 OK\r\n';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

describe('the response head filter', () => {
  test.each([
    ['100 Continue', `${CONTINUE}${OK}\r\nbody`, `${OK}\r\nbody`],
    ['several 100 Continue', `${CONTINUE.repeat(3)}${OK}\r\n`, `${OK}\r\n`],
    ['100 without a reason', `HTTP/1.1 100\r\n\r\n${OK}\r\n`, `${OK}\r\n`],
    ['100 with headers', `HTTP/1.0 100 C\r\ndate: x\r\nContent-Length: 9\r\n\r\n${OK}\r\n`, `${OK}\r\n`],
    [
      '100 after 103',
      `HTTP/1.1 103 E\r\nlink: a\r\n\r\n${CONTINUE}${OK}\r\n`,
      `HTTP/1.1 103 E\r\nlink: a\r\n\r\n${OK}\r\n`,
    ],
    [
      'equal lengths',
      `${OK}Content-Length: 2\r\na: b\r\ncontent-LENGTH:2 \r\n\r\nok`,
      `${OK}a: b\r\nContent-Length: 2\r\n\r\nok`,
    ],
    ['a list of equal lengths', `${OK}content-length: 2, 2\r\n\r\nok`, `${OK}Content-Length: 2\r\n\r\nok`],
  ])('removes %s, and the connection can be used again', (_what, response, expected) => {
    expect(filterWhole(response)).toEqual({ out: expected, isAmbiguous: false });
  });

  test.each([
    ['204', 'HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok', 'HTTP/1.1 204 No Content\r\n\r\nok'],
    ['304', 'HTTP/1.1 304 Same\r\nContent-Length: 2\r\na: b\r\n\r\n', 'HTTP/1.1 304 Same\r\na: b\r\n\r\n'],
    [
      'chunks',
      `${OK}Content-Length: 2\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
      `${OK}Transfer-Encoding: gzip, Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    ],
    [
      'chunks before the length',
      `${OK}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n`,
      `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
  ])(
    'removes the length of a response with %s, and the connection cannot be used again',
    (_what, response, expected) => {
      expect(filterWhole(response)).toEqual({ out: expected, isAmbiguous: true });
    },
  );

  test('keeps the connection for a 204 with the length 0', () => {
    expect(filterWhole('HTTP/1.1 204 N\r\ncontent-length: 0\r\n\r\n')).toEqual({
      out: 'HTTP/1.1 204 N\r\n\r\n',
      isAmbiguous: false,
    });
  });

  test.each([
    ['an ordinary response', `${OK}content-length: 5\r\n\r\nHTTP/`],
    ['a response like 100 Continue in the body', `${OK}\r\n${CONTINUE}content-length: 2\r\n`],
    ['different lengths', `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nab`],
    ['a length that is no number', `${OK}content-length: 2\r\ncontent-length: two\r\n\r\nab`],
    ['a length beside another coding', `${OK}transfer-encoding: gzip\r\ncontent-length: 2\r\n\r\nab`],
    ['a folded length', `${OK}content-length: 2\r\n 2\r\ncontent-length: 2\r\n 2\r\n\r\nab`],
    ['a space before the colon', `${OK}content-length : 2\r\ncontent-length : 2\r\n\r\nab`],
    ['a switch of protocols', 'HTTP/1.1 101 S\r\nupgrade: x\r\n\r\n'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n\r\nHTTP/1.1 100 C\r\n\r\n'],
    ['an empty line before the response', `\r\n\n${OK}\r\n`],
    ['bytes above 127', `${OK}x: \xe9\xff\r\n\r\n\xff\x00`],
    ['a status with four digits', 'HTTP/1.1 1000 C\r\n\r\n'],
  ])('passes %s unchanged', (_what, response) => {
    expect(filterWhole(response)).toEqual({ out: response, isAmbiguous: false });
  });

  test('passes invalid bytes without waiting for the end of the line', () => {
    for (const beginning of ['SSH', 'HTTP/2', 'HTTP/1.1 x', `${OK}x-long: `, `${OK}content-type`]) {
      expect(filterInPieces(beginning, [1]).out).toBe(beginning);
    }
    expect(filterInPieces(`${OK}content-length: ${' '.repeat(1000)}`, [1]).out).toHaveLength(OK.length + 1016);
  });

  test('returns the same bytes, in whatever pieces a response arrives', () => {
    const lines = fc.constantFrom(
      'HTTP/1.1 100 Continue\r\n',
      'HTTP/1.1 204 No Content\r\n',
      OK,
      '\r\n',
      '\n',
      '\r',
      'content-length: 2\r\n',
      'Content-Length: 2, 2\r\n',
      'content-length: 3\r\n',
      'transfer-encoding: chunked\r\n',
      ' folded\r\n',
      'x: y\r\n',
      'x: y',
    );
    fc.assert(
      fc.property(
        fc.array(lines, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 20 }),
        (parts, sizes) => {
          // A part of the line that is still incomplete at the end may be withheld, so the response is completed.
          const response = `${OK}${parts.join('')}\r\n\r\nend`;
          expect(filterInPieces(response, sizes)).toEqual(filterWhole(response));
        },
      ),
    );
  });
});
