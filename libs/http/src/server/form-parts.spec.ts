import fc from 'fast-check';
import { decodeBase64, decodeBase64Text, isBase64TransferEncoding, parseExtendedFileName } from './form-parts.ts';

async function decodePieces(text: string, size: number): Promise<string> {
  const bytes = Buffer.from(text, 'latin1');
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
    bytes.subarray(n * size, (n + 1) * size),
  );
  const decoded: Uint8Array[] = [];
  for await (const piece of decodeBase64(pieces)) decoded.push(piece);
  return Buffer.concat(decoded).toString('latin1');
}
const MALFORMED = { code: 'malformed_multipart' };

describe('base64', () => {
  it('is decoded, in whatever pieces and lines it arrives', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 200 }),
        fc.integer({ min: 1, max: 90 }),
        fc.integer({ min: 1, max: 50 }),
        async (bytes, lineLength, size) => {
          const encoded = Buffer.from(bytes).toString('base64');
          const lines = encoded.match(new RegExp(`.{1,${lineLength}}`, 'g'))?.join('\r\n') ?? '';
          expect(await decodePieces(`${lines}\r\n`, size)).toBe(Buffer.from(bytes).toString('latin1'));
        },
      ),
    );
  });

  it.each(['%PDF-1.4', 'YWJj=', 'YWJ', 'YQ==YQ==', 'YQ==\nYWJj', 'YW-_', 'Y===', '====', 'YWJjé'])(
    'refuses %j',
    async (text) => {
      for (const size of [1, 3, 1000]) await expect(decodePieces(text, size)).rejects.toMatchObject(MALFORMED);
      expect(() => decodeBase64Text(text)).toThrow(expect.objectContaining(MALFORMED));
    },
  );

  it('contains UTF-8 in fields', () => expect(decodeBase64Text('wrVx\r\n')).toBe('µq'));

  it('is the only accepted encoding that changes bytes', () => {
    expect(['BASE64', ' base64 '].map(isBase64TransferEncoding)).toEqual([true, true]);
    expect(['7bit', '8bit', 'Binary'].map(isBase64TransferEncoding)).toEqual([false, false, false]);
    for (const other of ['quoted-printable', 'x-uuencode', '']) {
      expect(() => isBase64TransferEncoding(other)).toThrow(expect.objectContaining(MALFORMED));
    }
  });
});

describe('the extended file name', () => {
  it.each([
    [`form-data; name="file"; filename="x.pdf"; filename*=UTF-8''%e2%82%ac%20rates.pdf`, '€ rates.pdf'],
    [`form-data; name=file; filename=x.pdf; filename*=utf-8''na%C3%AFve.pdf`, 'naïve.pdf'],
    [`form-data; name="file"; FILENAME*=iso-8859-1'en'%A3.pdf`, '£.pdf'],
    [`form-data; name="file"; filename="x; filename*=UTF-8''y"`, "x; filename*=UTF-8''y"],
    [`form-data; name="file"; filename="x.pdf"; filename*=UTF-8''%zz`, undefined],
    ['form-data; name="file"; filename="x.pdf"', undefined],
  ])('of %s is %s', (disposition, expected) => {
    expect(parseExtendedFileName({ 'content-disposition': [disposition] })).toBe(expected);
  });
});
