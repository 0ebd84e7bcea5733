import fc from 'fast-check';
import { textArbitrary } from './arbitrary-values.ts';

/** One part of a `multipart/form-data` body. */
interface SentFormPart {
  readonly name: string;
  readonly fileName?: string;
  readonly type?: string;
  readonly content: Uint8Array;
}

const ONE_PIXEL_PNG = Buffer.from('89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de', 'hex');
/** Sample files by content type: allowed, forbidden, and two types at once. */
export const SAMPLE_FILES: readonly Uint8Array[] = [
  Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n'),
  ONE_PIXEL_PNG,
  Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex'),
  Buffer.from('GIF89a\x01\x00\x01\x00', 'latin1'),
  Buffer.from('504b0304140000000800', 'hex'),
  Buffer.from('<html><script>alert(1)</script></html>'),
  Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
  Buffer.from('MZ\x90\x00', 'latin1'),
  Buffer.from('a,b\r\n1,2\r\n'),
  Buffer.alloc(0),
  Buffer.concat([ONE_PIXEL_PNG, Buffer.from('%PDF-1.7\n<script>')]),
];
export const FUZZED_MEDIA_TYPES = [
  'application/pdf',
  'image/png',
  'text/html',
  'text/csv',
  'application/octet-stream',
  ';;;',
] as const;

export interface FuzzedFormField {
  readonly name: string;
  readonly isFile: boolean;
  readonly values: fc.Arbitrary<unknown>;
}

/**
 * Generates forms with the given fields: complete forms, truncated forms, and forms with missing, repeated, unknown or
 * reordered parts.
 */
export function generateMultipartForms(
  fields: readonly FuzzedFormField[],
): fc.Arbitrary<{ readonly type: string; readonly body: Uint8Array }> {
  const parts = fc.tuple(...fields.map(createFormPartArbitrary));
  const other = fc.record({ name: textArbitrary, content: textArbitrary.map((text) => Buffer.from(text)) });
  const beside = fc.oneof(
    { weight: 4, arbitrary: parts },
    fc.tuple(parts, other).map(([own, more]): readonly SentFormPart[] => [...own, more]),
    parts.map((own): readonly SentFormPart[] => own.toReversed()),
    parts.map((own): readonly SentFormPart[] => [...own, ...own]),
    parts.map((own): readonly SentFormPart[] => own.slice(1)),
    parts.map((own): readonly SentFormPart[] => own.slice(0, -1)),
  );
  const boundary = fc.constantFrom('x', '----WebKitFormBoundary7MA4YWxkTrZu0gW', 'a'.repeat(70));
  const cut = fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.nat(200));
  const type = fc.oneof(
    { weight: 10, arbitrary: fc.constant('multipart/form-data; boundary=') },
    fc.constantFrom('multipart/form-data; x=', 'multipart/mixed; boundary='),
  );
  return fc.tuple(beside, boundary, cut, type).map(([given, mark, missing, kind]) => {
    const whole = Buffer.concat([...given.map((part) => encodeFormPart(part, mark)), Buffer.from(`--${mark}--\r\n`)]);
    return { type: kind + mark, body: whole.subarray(0, Math.max(0, whole.length - missing)) };
  });
}

function createFormPartArbitrary({ name, isFile, values }: FuzzedFormField): fc.Arbitrary<SentFormPart> {
  if (!isFile) {
    return fc
      .oneof({ weight: 6, arbitrary: values }, textArbitrary)
      .map((value) => ({ name, content: Buffer.from(String(value)) }));
  }
  const content = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...SAMPLE_FILES) },
    fc.uint8Array({ maxLength: 500 }),
  );
  return fc.record({
    name: fc.constant(name),
    fileName: fc.oneof(fc.constantFrom('bill.pdf', '../../etc/passwd', 'C:\\a.pdf'), textArbitrary),
    type: fc.constantFrom(...FUZZED_MEDIA_TYPES),
    content,
  });
}

function encodeFormPart({ name, fileName, type, content }: SentFormPart, boundary: string): Uint8Array {
  const quoted = (text: string) =>
    `"${text.replace(/[\r\n"]/g, (mark) => `%${mark.charCodeAt(0).toString(16).padStart(2, '0')}`)}"`;
  const disposition = `form-data; name=${quoted(name)}${fileName === undefined ? '' : `; filename=${quoted(fileName)}`}`;
  const head = `--${boundary}\r\nContent-Disposition: ${disposition}\r\n${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`;
  return Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n')]);
}
