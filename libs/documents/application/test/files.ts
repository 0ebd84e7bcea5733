import { crc32, deflateSync } from 'node:zlib';
import { type ZipPart, createZip } from './zip.ts';

const OFFICE_TYPE_PREFIX = 'application/vnd.openxmlformats-officedocument';
export const DOCX_MEDIA_TYPE_EXPECTED_BY_TESTS = `${OFFICE_TYPE_PREFIX}.wordprocessingml.document`;
export const XLSX_MEDIA_TYPE_EXPECTED_BY_TESTS = `${OFFICE_TYPE_PREFIX}.spreadsheetml.sheet`;

const createContentTypesPart = (part: string, type: string): ZipPart => ({
  name: '[Content_Types].xml',
  content:
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>' +
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' +
    `<Default Extension="xml" ContentType="application/xml"/><Override PartName="${part}" ContentType="${type}"/></Types>`,
});

const createRelationshipsPart = (target: string): ZipPart => ({
  name: '_rels/.rels',
  content:
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
    `<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="${target}"/></Relationships>`,
});

export const DOCX_PARTS: readonly ZipPart[] = [
  createContentTypesPart('/word/document.xml', `${DOCX_MEDIA_TYPE_EXPECTED_BY_TESTS}.main+xml`),
  createRelationshipsPart('word/document.xml'),
  {
    name: 'word/document.xml',
    content:
      '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p/></w:body></w:document>',
  },
];

export const XLSX_PARTS: readonly ZipPart[] = [
  createContentTypesPart('/xl/workbook.xml', `${XLSX_MEDIA_TYPE_EXPECTED_BY_TESTS}.main+xml`),
  createRelationshipsPart('xl/workbook.xml'),
  {
    name: 'xl/workbook.xml',
    content: '<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"/>',
  },
];

/** A Word document with macros, as its first part declares. */
export const DOCM_PARTS: readonly ZipPart[] = [
  createContentTypesPart('/word/document.xml', 'application/vnd.ms-word.document.macroEnabled.main+xml'),
  ...DOCX_PARTS.slice(1),
];

/** A spreadsheet whose main part is binary. */
export const XLSB_PARTS: readonly ZipPart[] = [
  createContentTypesPart('/xl/workbook.bin', 'application/vnd.ms-excel.sheet.binary.macroEnabled.main'),
  { name: 'xl/workbook.bin', content: '\x83\x01\0' },
];

/** A PDF without pages. @param between bytes between the header and the rest */
export const createPdfBytes = (between = ''): Buffer =>
  Buffer.from(
    `%PDF-1.4\n%\xe2\xe3\xcf\xd3\n${between}1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n` +
      '2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n3 0 obj<</Title (Invoice) /Base (x) >>endobj\n' +
      'xref\n0 4\ntrailer<</Root 1 0 R/Size 4/Info 3 0 R>>\nstartxref\n150\n%%EOF\n',
    'latin1',
  );

function createPngChunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
}

/** A PNG of one grey pixel. @param more chunks before the image */
export const createSamplePng = (...more: readonly (readonly [string, Buffer])[]): Buffer =>
  Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    createPngChunk('IHDR', Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0])),
    ...more.map(([type, data]) => createPngChunk(type, data)),
    createPngChunk('IDAT', deflateSync(Buffer.from([0, 128]))),
    createPngChunk('IEND', Buffer.alloc(0)),
  ]);

/** A JPEG of the usual first segments and the end marker, without a picture. */
export const createSampleJpeg = (): Buffer =>
  Buffer.concat([
    Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]),
    Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1'),
    Buffer.from([0xff, 0xdb, 0, 67, 0]),
    Buffer.alloc(64, 1),
    Buffer.from([0xff, 0xd9]),
  ]);

/** A TIFF of white pixels, with the directory after them, as most programs write it. */
export function createTiff({ isBigEndian = false, pixels = 1, tag = 262 } = {}): Buffer {
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

/** A WebP of one pixel, without its picture. */
export const createWebpBytes = (): Buffer =>
  Buffer.from('RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0', 'latin1');

/** The first boxes of a photo in HEIF. @param brand `heic` as telephones write it */
export const createHeicBytes = (brand = 'heic'): Buffer =>
  Buffer.from(`\0\0\0\x18ftyp${brand}\0\0\0\0mif1heic\0\0\0\x08meta`, 'latin1');

interface CompoundFileOptions {
  /** Class of the root entry, 32 hexadecimal digits. */
  readonly rootClass?: string;
  /** Names of the entries in the directory. */
  readonly names?: readonly string[];
  /** Sectors before the directory. */
  readonly sectors?: number;
}

const OUTLOOK_MESSAGE_CLASS_ID = '0b0d020000000000c000000000000046';

/** A compound file with a directory, such as a message of Outlook (the default), without the bytes of its streams. */
export function createCompoundFile({
  rootClass = OUTLOOK_MESSAGE_CLASS_ID,
  names = ['__properties_version1.0'],
  sectors = 1,
}: CompoundFileOptions = {}): Buffer {
  const header = Buffer.alloc(512);
  header.write('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1');
  header.writeUInt16LE(9, 30);
  header.writeUInt32LE(sectors, 48);
  const entry = (name: string, type: number, entryClass = '') => {
    const bytes = Buffer.alloc(128);
    bytes.write(name, 'utf16le');
    bytes.writeUInt16LE(2 * name.length + 2, 64);
    bytes[66] = type;
    bytes.write(entryClass, 80, 'hex');
    return bytes;
  };
  const directory = [entry('Root Entry', 5, rootClass), ...names.map((name) => entry(name, 2))];
  return Buffer.concat([header, Buffer.alloc(512 * sectors), ...directory]);
}

export const createDocxBytes = (...more: readonly ZipPart[]): Buffer => createZip([...DOCX_PARTS, ...more]);
export const createXlsxFile = (...more: readonly ZipPart[]): Buffer => createZip([...XLSX_PARTS, ...more]);

/** Splits bytes into chunks of at most the given size. */
export async function* splitIntoByteChunks(bytes: Buffer, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
