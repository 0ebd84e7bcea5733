import { crc32, deflateSync } from 'node:zlib';
import { type Part, zip } from './zip.ts';

const OFFICE_TYPE_PREFIX = 'application/vnd.openxmlformats-officedocument';
export const DOCX = `${OFFICE_TYPE_PREFIX}.wordprocessingml.document`;
export const XLSX = `${OFFICE_TYPE_PREFIX}.spreadsheetml.sheet`;

const contentTypes = (part: string, type: string): Part => ({
  name: '[Content_Types].xml',
  content:
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>' +
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' +
    `<Default Extension="xml" ContentType="application/xml"/><Override PartName="${part}" ContentType="${type}"/></Types>`,
});

const relationship = (target: string): Part => ({
  name: '_rels/.rels',
  content:
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
    `<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="${target}"/></Relationships>`,
});

export const DOCX_PARTS: readonly Part[] = [
  contentTypes('/word/document.xml', `${DOCX}.main+xml`),
  relationship('word/document.xml'),
  {
    name: 'word/document.xml',
    content:
      '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p/></w:body></w:document>',
  },
];

export const XLSX_PARTS: readonly Part[] = [
  contentTypes('/xl/workbook.xml', `${XLSX}.main+xml`),
  relationship('xl/workbook.xml'),
  {
    name: 'xl/workbook.xml',
    content: '<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"/>',
  },
];

/** A workbook with macros, as its first part declares. */
export const DOCM_PARTS: readonly Part[] = [
  contentTypes('/word/document.xml', 'application/vnd.ms-word.document.macroEnabled.main+xml'),
  ...DOCX_PARTS.slice(1),
];

/** A spreadsheet whose main part is binary. */
export const XLSB_PARTS: readonly Part[] = [
  contentTypes('/xl/workbook.bin', 'application/vnd.ms-excel.sheet.binary.macroEnabled.main'),
  { name: 'xl/workbook.bin', content: '\x83\x01\0' },
];

/** A PDF without pages. @param between bytes after its beginning */
export const pdf = (between = ''): Buffer =>
  Buffer.from(
    `%PDF-1.4\n%\xe2\xe3\xcf\xd3\n${between}1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n` +
      '2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n3 0 obj<</Title (Invoice) /Base (x) >>endobj\n' +
      'xref\n0 4\ntrailer<</Root 1 0 R/Size 4/Info 3 0 R>>\nstartxref\n150\n%%EOF\n',
    'latin1',
  );

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
}

/** A PNG of one grey pixel. @param more chunks before the image */
export const png = (...more: readonly (readonly [string, Buffer])[]): Buffer =>
  Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0])),
    ...more.map(([type, data]) => chunk(type, data)),
    chunk('IDAT', deflateSync(Buffer.from([0, 128]))),
    chunk('IEND', Buffer.alloc(0)),
  ]);

/** A JPEG of the usual first segments and the end marker, without a picture. */
export const jpeg = (): Buffer =>
  Buffer.concat([
    Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]),
    Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1'),
    Buffer.from([0xff, 0xdb, 0, 67, 0]),
    Buffer.alloc(64, 1),
    Buffer.from([0xff, 0xd9]),
  ]);

/** A TIFF of white pixels, with the directory after them, as most programs write it. */
export function tiff({ isBigEndian = false, pixels = 1, tag = 262 } = {}): Buffer {
  const write16 = (to: Buffer, value: number, at: number) =>
    isBigEndian ? to.writeUInt16BE(value, at) : to.writeUInt16LE(value, at);
  const write32 = (to: Buffer, value: number, at: number) =>
    isBigEndian ? to.writeUInt32BE(value, at) : to.writeUInt32LE(value, at);
  const header = Buffer.alloc(8);
  header.write(isBigEndian ? 'MM' : 'II', 'latin1');
  write16(header, 42, 2);
  write32(header, 8 + pixels, 4);
  const directory = Buffer.alloc(2 + 3 * 12 + 4);
  write16(directory, 3, 0);
  for (const [n, id] of [256, 257, tag].entries()) {
    write16(directory, id, 2 + n * 12);
    write16(directory, 3, 4 + n * 12);
    write32(directory, 1, 6 + n * 12);
    write16(directory, 1, 10 + n * 12);
  }
  return Buffer.concat([header, Buffer.alloc(pixels, 0xff), directory]);
}

export const docx = (...more: readonly Part[]): Buffer => zip([...DOCX_PARTS, ...more]);
export const xlsx = (...more: readonly Part[]): Buffer => zip([...XLSX_PARTS, ...more]);

/** Splits bytes into chunks of at most the given size. */
export async function* splitBytes(bytes: Buffer, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
