import { randomBytes } from 'node:crypto';
import { choosePropertyTestRounds } from '@tracking/testing';
import fc from 'fast-check';
import {
  DOCM_PARTS,
  DOCX_MEDIA_TYPE_EXPECTED_BY_TESTS,
  DOCX_PARTS,
  createDocxBytes,
  createCompoundFile,
  createHeicBytes,
  splitIntoByteChunks,
  createSampleJpeg,
  createPdfBytes,
  createSamplePng,
  createTiff,
  createWebpBytes,
  XLSB_PARTS,
  XLSX_MEDIA_TYPE_EXPECTED_BY_TESTS,
  XLSX_PARTS,
  createXlsxFile,
} from '../../test/files.ts';
import { createZip } from '../../test/zip.ts';
import { UnsupportedDocumentTypeError } from '../refusals.ts';
import { DETECTION_BYTES, FileTypeDetector } from './judgement.ts';
import type { DeclaredFileTypeAndName } from './text-judge.ts';

type Content = Buffer | string;
const bytesOf = (content: Content) => (typeof content === 'string' ? Buffer.from(content) : content);

/** Returns the type, or the reason for the refusal. */
async function judged(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, hint: DeclaredFileTypeAndName = {}) {
  const judgement = new FileTypeDetector(hint);
  try {
    for await (const piece of pieces) await judgement.checkContentBytes(piece);
    return await judgement.determineFileType();
  } catch (error) {
    if (error instanceof UnsupportedDocumentTypeError) return error.message;
    throw error;
  }
}
const judge = (content: Content, hint?: DeclaredFileTypeAndName) => judged(splitIntoByteChunks(bytesOf(content)), hint);
const refusal = (why: string) => `The file is not accepted: ${why}.`;
const utf16 = (text: string, mark: number[]) => Buffer.concat([Buffer.from(mark), Buffer.from(text, 'utf16le')]);

const NOTHING_KNOWN = 'the file is neither of an accepted type nor text';
const MSG = 'application/vnd.ms-outlook';
const OLD_OFFICE = 'the file is an older Office file, or damaged, and not a message of Outlook';
const PAGE = 'the file begins with HTML markup';
const NO_OFFICE = 'the file is an archive, but neither DOCX nor XLSX';
const hasMarkup = (found: string) => `the content contains HTML markup: ${JSON.stringify(found)}`;
const SUBSET = 'the document type has an internal subset';
const STYLED = hasMarkup('<?xml-stylesheet');
const LONG_NAME = 'a name in the content is longer than 256 characters';
const SVG_NAME = hasMarkup('http://www.w3.org/2000/svg');
const xmlOf = (inside: string) => `<?xml version="1.0"?><Invoice>${inside}</Invoice>`;

const TAKEN: readonly (readonly [string, Content, string])[] = [
  ['PDF', createPdfBytes(), 'application/pdf'],
  ['PNG', createSamplePng(), 'image/png'],
  [
    'PNG whose colour profile is longer than what is looked at',
    createSamplePng(['iCCP', Buffer.alloc(40_000)]),
    'image/png',
  ],
  ['animated PNG', createSamplePng(['acTL', Buffer.alloc(8)]), 'image/png'],
  ['JPEG', createSampleJpeg(), 'image/jpeg'],
  ['TIFF', createTiff(), 'image/tiff'],
  ['TIFF of the other byte order', createTiff({ isBigEndian: true }), 'image/tiff'],
  ['TIFF whose directory is far behind', createTiff({ pixels: 100_000 }), 'image/tiff'],
  ['BigTIFF', Buffer.concat([Buffer.from('II+\0\x08\0\0\0'), Buffer.alloc(40)]), 'image/tiff'],
  ['WebP', createWebpBytes(), 'image/webp'],
  ['a photo in HEIC', createHeicBytes(), 'image/heic'],
  ['a photo in HEIF', createHeicBytes('mif1'), 'image/heic'],
  ['a sequence in HEIC', createHeicBytes('hevc'), 'image/heic'],
  ['PDF behind other bytes', Buffer.concat([Buffer.from('\0\x01'), createPdfBytes()]), 'application/pdf'],
  ['PDF behind a byte order mark', Buffer.concat([Buffer.from('\ufeff\n'), createPdfBytes()]), 'application/pdf'],
  [
    'PDF behind the lines of a printer',
    Buffer.concat([Buffer.from('\x1b%-12345X@PJL JOB\r\n'), createPdfBytes()]),
    'application/pdf',
  ],
  [
    'PDF that begins with the last possible byte',
    Buffer.concat([Buffer.alloc(1_015, ' '), createPdfBytes()]),
    'application/pdf',
  ],
  ['text that mentions the signature of PDF', 'Files begin with %PDF-1.4\nand 1 object', 'text/plain'],
  ['text in UTF-16', utf16('a;b', [0xff, 0xfe]), 'text/plain'],
  ['text in UTF-16 of the other byte order', Buffer.from([0xfe, 0xff, 0x4e, 0x2d]), 'text/plain'],
  ['a message of Outlook', createCompoundFile(), MSG],
  ['a message of Outlook without a class', createCompoundFile({ rootClass: '' }), MSG],
  [
    'a message of Outlook with a Word file in it',
    createCompoundFile({
      names: ['__properties_version1.0', '__attach_version1.0_#00000000', 'WordDocument'],
      sectors: 300,
    }),
    MSG,
  ],
  ['DOCX', createDocxBytes(), DOCX_MEDIA_TYPE_EXPECTED_BY_TESTS],
  ['XLSX', createXlsxFile(), XLSX_MEDIA_TYPE_EXPECTED_BY_TESTS],
  ['DOCX whose parts are in another order', createZip(DOCX_PARTS.toReversed()), DOCX_MEDIA_TYPE_EXPECTED_BY_TESTS],
  [
    'DOCX with a comment at its end',
    createZip(DOCX_PARTS, { comment: 'made by hand' }),
    DOCX_MEDIA_TYPE_EXPECTED_BY_TESTS,
  ],
  [
    'XLSX that tells what it is behind a large part',
    createZip([{ name: 'docProps/thumbnail.jpeg', content: Buffer.alloc(90_000, 'x'), isStored: true }, ...XLSX_PARTS]),
    XLSX_MEDIA_TYPE_EXPECTED_BY_TESTS,
  ],
  [
    'DOCX with a sheet in it',
    createDocxBytes({ name: 'word/embeddings/sheet.xlsx', content: createXlsxFile(), isStored: true }),
    DOCX_MEDIA_TYPE_EXPECTED_BY_TESTS,
  ],
  ['text', 'Gross weight 12 t\r\n\tmarks: none\f', 'text/plain'],
  ['text with a byte order mark', '\ufeffGrüße', 'text/plain'],
  ['text in Latin-1', Buffer.from('Grüße aus Köln', 'latin1'), 'text/plain'],
  ['text that begins as a picture or program does', 'BMW, 3 cars\nMZ-100', 'text/plain'],
  ['text with signs that are no markup', 'a < b > c, <user@example.com>, 3<4 <scripture> <htmlx', 'text/plain'],
  ['text that begins with such a sign', '<< notice >>', 'text/plain'],
  ['one character', '1', 'text/plain'],
  ['XML', xmlOf('<title>x</title><Body/>'), 'application/xml'],
  ['XML without a declaration, behind blanks', '\ufeff\n <n:Invoice xmlns:n="urn:n"/>\n', 'application/xml'],
  ['XML in Latin-1', Buffer.from('<?xml version="1.0" encoding=\'ISO-8859-1\'?><a>é</a>', 'latin1'), 'application/xml'],
  [
    'XML with a document type, comments and sections',
    '<?xml version="1.0"?><!-- <svg> --><!DOCTYPE a SYSTEM "[a.dtd"><a><![CDATA[<script >]]><?x <svg ?></a>',
    'application/xml',
  ],
  [
    'an invoice in UBL',
    '<?xml version="1.0" encoding="UTF-8"?>\n<!-- example --><Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2" ' +
      'xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2" ' +
      'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="urn:a http://example.com/UBL-Invoice-2.1.xsd">' +
      '<cbc:ID>TOSL108</cbc:ID><cbc:Note>a &lt;script&gt; &amp; more</cbc:Note>' +
      '<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"/></Invoice>\n',
    'application/xml',
  ],
  [
    'an order in cXML',
    '<?xml version="1.0"?><!DOCTYPE cXML SYSTEM "http://xml.cxml.org/schemas/cXML/1.2.014/cXML.dtd"><cXML/>',
    'application/xml',
  ],
  [
    'EDIFACT',
    "UNA:+.? 'UNB+UNOC:3+SENDER+RECEIVER+260101:1200+1'UNH+1+IFTMIN:D:96A:UN'BGM+340+A<B>C+9'UNT+3+1'UNZ+1+1'",
    'text/plain',
  ],
  [
    'X12',
    'ISA*00*          *00*          *ZZ*A              *ZZ*B              *260101*1200*<*00401*1*0*P*>~',
    'text/plain',
  ],
  [
    'an e-mail',
    'From: Ann <ann@example.com>\nWeight < 5 t, <10 pallets, a<b and c>d, <3\n<- back, x <y only once\nand href, src',
    'text/plain',
  ],
  ['text with tags that do nothing', 'see <b>x</b> <https://example.com/?a=1> <x y="1"> </> <!x> <?x>', 'text/plain'],
];

const REFUSED: readonly (readonly [string, Content, string])[] = [
  ['HTML', '<!DOCTYPE html><html><body>x</body></html>', PAGE],
  ['HTML behind blanks, in capitals', '\ufeff \n\t<HTML>', PAGE],
  ['a piece of HTML', '<b>x</b>', PAGE],
  ['HTML behind a comment', '<!-- x --><p>', PAGE],
  ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>', PAGE],
  ['SVG behind a declaration', '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', hasMarkup('<svg')],
  ['SVG with a prefix', '<?xml version="1.0"?><x:svg xmlns:x="u"/>', hasMarkup('<x:svg')],
  ['XHTML', '<?xml version="1.0"?><!DOCTYPE html><HTML/>', hasMarkup('<HTML/')],
  ['XML with a script in it', xmlOf('<x:script\n>'), hasMarkup('<x:script')],
  [
    'XML with elements of pages in it',
    xmlOf('<x:img xmlns:x="http://www.w3.org/1999/xhtml"/>'),
    hasMarkup('http://www.w3.org/1999/xhtml'),
  ],
  [
    'XML with a stylesheet in it',
    xmlOf('<s:s xmlns:s="http://www.w3.org/1999/XSL/Transform"/>'),
    hasMarkup('http://www.w3.org/1999/XSL/Transform'),
  ],
  ['XML that grows', '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "bbbb">]><a>&b;&b;</a>', SUBSET],
  [
    'XML whose document type makes it a page',
    '<?xml version="1.0"?><!DOCTYPE a [<!ATTLIST a xmlns CDATA "http://www.w3.org/1999/xhtml">]><a onclick="x"/>',
    SUBSET,
  ],
  ['XML with a stylesheet elsewhere', '<?xml version="1.0"?><?xml-stylesheet href="f.xsl"?><a/>', STYLED],
  [
    'XML with a stylesheet behind a comment',
    '<?xml version="1.0"?><!-- x --><?xml-stylesheet\nhref="f.xsl"?><a/>',
    STYLED,
  ],
  [
    'XML that opens in Word',
    '<?xml version="1.0"?><?mso-application progid="Word.Document"?><a/>',
    hasMarkup('<?mso-application'),
  ],
  [
    'XML with an encoded namespace of pages',
    xmlOf('<x:img xmlns:x=" http://www.w3.org/1999&#x2F;xht&#0000109;l" onerror="x"/>'),
    hasMarkup('http://www.w3.org/1999/xhtml'),
  ],
  [
    'XML with a script behind a long prefix',
    xmlOf(`<${'p'.repeat(200)}:script xmlns:p="u">`),
    hasMarkup(`<${'p'.repeat(39)}`),
  ],
  ['XML with a longer prefix', xmlOf(`<${'p'.repeat(300)}:b>`), LONG_NAME],
  ['XML with an attribute of a longer prefix', xmlOf(`<a xmlns:${'p'.repeat(300)}='u'>`), LONG_NAME],
  ['XML with a long namespace', xmlOf(`<a xmlns:p="${' '.repeat(2_000)}">`), 'the name of a namespace is too long'],
  ['XML with a namespace behind a false end', xmlOf('<a b=">" xmlns="http://www.w3.org/2000/svg"/>'), SVG_NAME],
  ['XML in another encoding', '<?xml version="1.0" encoding="UTF-7"?><a/>', 'XML must be UTF-8 or Latin-1'],
  [
    'XML with the namespace of formulas',
    xmlOf('<m:math xmlns:m="http://www.w3.org/1998/Math/MathML" href="javascript:x"/>'),
    hasMarkup('http://www.w3.org/1998/Math/MathML'),
  ],
  [
    'XML with a comment that ends like one of HTML',
    xmlOf('<!-- --!> <a b="--> <c/> "/>'),
    'the file has a comment that XML does not allow',
  ],
  [
    'XML with a page behind 100 kB of blanks',
    `<?xml version="1.0"?>${' '.repeat(100_000)}<h:html/>`,
    hasMarkup('<h:html/'),
  ],
  ['XML with a long instruction', xmlOf(`<?x ${'y'.repeat(2_000)}?>`), 'a processing instruction is too long'],
  ['XML that was cut off', '<?xml version="1.0"?><a>x', 'the file begins like XML but is not complete XML'],
  ['what begins as a declaration alone', '<!ELEMENT a ANY>', PAGE],
  ['text with a page far inside', `${'x'.repeat(200_000)}<Script >`, hasMarkup('<Script')],
  ['text with the end of a page', 'x</body>', hasMarkup('</body>')],
  ['text with PHP', 'x <?php phpinfo();', hasMarkup('<?php')],
  ['text with an event handler', 'x <img src onerror\n= alert(1)>', hasMarkup('onerror=')],
  [
    'text with an event handler on any element',
    'x <anything/onFocus=alert(1) autofocus tabindex=1>',
    hasMarkup('onFocus='),
  ],
  ['text with a link', 'x <a title=">" href="javascript:alert(1)">', hasMarkup('href=')],
  ['text with a picture', 'x <img alt="<" src=//example.com/x>', hasMarkup('src=')],
  ['text with a comment', 'x <!-- <a b=" --><img src=x>', hasMarkup('<!--')],
  ['text with an element of raw text', 'x <textarea><a b="</textarea><img src=x>', hasMarkup('<textarea>')],
  ['text with markup behind bogus comments', 'x </ "> <! "> <? "> <img src=x>', hasMarkup('src=')],
  ['text with markup behind a CDATA section', 'x <![CDATA[ "> <img src=x> ]]>', hasMarkup('<![CDATA[')],
  ['text with an incomplete CDATA section', 'x <![CDATA[ "> ', hasMarkup('<![CDATA[')],
  ['text with attributes in a closing tag', `x </b a="> <c d=' "> <img onerror=x> '>`, hasMarkup('</b')],
  ['text with an incomplete tag at its end', 'x <img src=y', hasMarkup('src=')],
  ['text with a page behind 100 kB of blanks', `${' '.repeat(100_000)}<html>`, hasMarkup('<html>')],
  ['text with a byte order mark and markup', '\ufeffx <img src=x>', hasMarkup('src=')],
  ['text in UTF-16 without a mark', Buffer.from('x <script>', 'utf16le'), NOTHING_KNOWN],
  ['text with an encoded address of a script', 'x <a href="&#106;avascript:alert(1)">', hasMarkup('href=')],
  ['CSV with a page in a cell', 'a;b\n1;"<iframe src=x>"', hasMarkup('<iframe')],
  ['text with NUL', 'abc\0', NOTHING_KNOWN],
  ['text with NUL far behind', `${'x'.repeat(200_000)}\0`, NOTHING_KNOWN],
  ['text in UTF-16 with markup', utf16('a <script>', [0xff, 0xfe]), hasMarkup('<script>')],
  ['text in UTF-16 whose bytes are markup', Buffer.from('\xff\xfe <script> ', 'latin1'), hasMarkup('<script>')],
  ['text in UTF-16 with half a character', Buffer.from([0xff, 0xfe, 0x41]), 'the text is not valid UTF-16'],
  ['text in UTF-16 with a control character', utf16('a\x01', [0xff, 0xfe]), NOTHING_KNOWN],
  ['text in UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0]), NOTHING_KNOWN],
  ['XML in UTF-16', utf16('<?xml version="1.0"?><a><svg/></a>', [0xff, 0xfe]), hasMarkup('<svg/')],
  ['text in UTF-16 without a mark', utf16('a;b', []), NOTHING_KNOWN],
  ['a shell script', '#!/bin/sh\nrm -rf /', 'the content is a script or a PostScript program'],
  ['PostScript', '%!PS-Adobe-3.0', 'the content is a script or a PostScript program'],
  ['RTF', '{\\rtf1 x}', 'the content is application/rtf'],
  ['a Windows program', Buffer.from('MZ\x90\0\x03\0\0\0'), NOTHING_KNOWN],
  ['a Linux program', Buffer.from('\x7fELF\x02\x01\x01\0'), NOTHING_KNOWN],
  ['Java', Buffer.from([0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52]), NOTHING_KNOWN],
  ['GIF', Buffer.from('GIF89a\x01\0\x01\0'), NOTHING_KNOWN],
  [
    'an old Word file',
    createCompoundFile({ rootClass: '0609020000000000c000000000000046', names: ['WordDocument'] }),
    OLD_OFFICE,
  ],
  [
    'an old Word file with a message in it',
    createCompoundFile({
      rootClass: '0609020000000000c000000000000046',
      names: ['WordDocument', '__properties_version1.0'],
    }),
    OLD_OFFICE,
  ],
  [
    'an old Excel file without a class and with a message in it',
    createCompoundFile({ rootClass: '', names: ['Workbook', '__properties_version1.0'] }),
    OLD_OFFICE,
  ],
  ['an installer', createCompoundFile({ rootClass: '84100c0000000000c000000000000046', names: ['x'] }), OLD_OFFICE],
  ['what only begins as a compound file', createCompoundFile().subarray(0, 20), OLD_OFFICE],
  ['AVIF', createHeicBytes('avif'), NOTHING_KNOWN],
  ['a film', createHeicBytes('isom'), NOTHING_KNOWN],
  ['a sound', Buffer.from('RIFF\0\0\0\0WAVEfmt '), NOTHING_KNOWN],
  ['PDF behind more than 1,024 bytes', Buffer.concat([Buffer.alloc(1_100, 1), createPdfBytes()]), NOTHING_KNOWN],
  ['PDF behind a program', Buffer.concat([Buffer.from('MZ\x90\0'), createPdfBytes()]), NOTHING_KNOWN],
  [
    'PDF behind a script',
    Buffer.concat([Buffer.from('#!/bin/sh\n'), createPdfBytes()]),
    'the content is a script or a PostScript program',
  ],
  ['PDF behind bytes and HTML', Buffer.concat([Buffer.from('\n<html>'), createPdfBytes()]), PAGE],
  ['gzip', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0]), NOTHING_KNOWN],
  ['a raw photo', createTiff({ tag: 50_706 }), 'the content is image/x-adobe-dng'],
  ['JPEG-LS', Buffer.from([0xff, 0xd8, 0xff, 0xf7, 0, 1]), 'the content is image/jls'],
  ['what only begins as PNG', createSamplePng().subarray(0, 12), 'the content is damaged or of an unknown type'],
  ['PDF behind HTML', Buffer.concat([Buffer.from('<html>'), createPdfBytes()]), PAGE],
  ['PDF that goes on as HTML', createPdfBytes('<html><script>'), PAGE],
  ['a plain ZIP', createZip([{ name: 'a.txt', content: 'a' }]), NO_OFFICE],
  ['an empty ZIP', createZip([]), NOTHING_KNOWN],
  ['an empty DOCX', createZip([DOCX_PARTS[0]!]), NO_OFFICE],
  [
    'Java in a ZIP',
    createZip([{ name: 'META-INF/MANIFEST.MF', content: 'Manifest-Version: 1.0' }]),
    'the content is application/java-archive',
  ],
  [
    'OpenDocument',
    createZip([{ name: 'mimetype', content: 'application/vnd.oasis.opendocument.text', isStored: true }]),
    'the content is application/vnd.oasis.opendocument.text',
  ],
  [
    'a presentation',
    createZip([
      { name: 'ppt/presentation.xml', content: 'x' },
      { name: '[Content_Types].xml', content: 'x' },
    ]),
    NO_OFFICE,
  ],
  ['DOCM', createZip(DOCM_PARTS), 'the content is application/vnd.ms-word.document.macroenabled.12'],
  [
    'DOCX with macros',
    createDocxBytes({ name: 'word/vbaProject.bin', content: 'x' }),
    'the file contains macros or programs',
  ],
  [
    'DOCX that is Java too',
    createDocxBytes({ name: 'META-INF/MANIFEST.MF', content: 'x' }),
    'the file contains macros or programs',
  ],
  [
    'DOCX with a program in it',
    createDocxBytes({ name: 'word/media/a.EXE', content: 'x' }),
    'the file contains macros or programs',
  ],
  ['XLSB', createZip(XLSB_PARTS), NO_OFFICE],
  [
    'DOCX and XLSX in one',
    createZip([...DOCX_PARTS, ...XLSX_PARTS.slice(1).filter(({ name }) => name !== '_rels/.rels')]),
    NO_OFFICE,
  ],
  [
    'what begins as DOCX and is XLSX by its directory',
    createZip(DOCX_PARTS, { renamed: { 'word/document.xml': 'xl/workbook.xml' } }),
    'the beginning of the archive contradicts its directory',
  ],
  [
    'two parts of one name',
    createDocxBytes({ name: 'WORD/document.xml', content: 'x' }),
    'the archive has two parts with the same name',
  ],
  ['DOCX that is encrypted', createDocxBytes({ name: 'word/x.xml', content: 'x', flags: 1 }), 'the file is encrypted'],
  [
    'a part with a path that leads out',
    createDocxBytes({ name: '../../etc/passwd', content: 'x' }),
    'the archive is damaged, or has more than about 5,000 parts',
  ],
  [
    'DOCX with another archive in front',
    createZip(DOCX_PARTS, { before: createZip([{ name: 'a.exe', content: 'x' }]) }),
    'the first part of the archive is not in its directory',
  ],
  [
    'DOCX with bytes behind',
    Buffer.concat([createDocxBytes(), Buffer.from('x')]),
    'the archive is damaged, or has more than about 5,000 parts',
  ],
  [
    'DOCX that was cut off',
    createDocxBytes().subarray(0, -30),
    'the archive is damaged, or has more than about 5,000 parts',
  ],
  [
    'PDF with an archive behind',
    Buffer.concat([createPdfBytes(), createDocxBytes()]),
    'the file has an archive at its end',
  ],
  [
    'PDF with an archive inside that knows where it is',
    createZip([{ name: 'a.class', content: 'x' }], { before: createPdfBytes(), comment: '\n%%EOF' }),
    'the file has an archive at its end',
  ],
  [
    'JPEG with an archive behind, and a byte',
    Buffer.concat([createSampleJpeg(), createZip([{ name: 'A.class', content: 'x' }]), Buffer.from('!')]),
    'the file has an archive at its end',
  ],
  [
    'PDF with an archive behind, whose comment looks like its end',
    Buffer.concat([
      createPdfBytes(),
      createZip([{ name: 'a.class', content: 'x' }], { comment: `PK\x05\x06${'x'.repeat(30)}` }),
    ]),
    'the file has an archive at its end',
  ],
  [
    'PDF with an empty archive behind',
    Buffer.concat([createPdfBytes(), createZip([])]),
    'the file has an archive at its end',
  ],
  [
    'PNG with an archive behind',
    Buffer.concat([createSamplePng(), createZip([{ name: 'A.class', content: 'x' }])]),
    'the file has an archive at its end',
  ],
];

describe('type detection', () => {
  it.each(TAKEN)('accepts %s', async (_name, content, type) => {
    expect(await judge(content)).toBe(type);
  });

  describe('an e-mail', () => {
    const MAIL = 'Received: from a\r\n\tby b\r\nFrom: Ann <ann@example.com>\r\nSubject: =?utf-8?q?B=2FL?=\r\n\r\n';
    const hint = { fileName: 'Booking.EML', contentType: 'application/octet-stream' };

    it.each([
      ['with parts in HTML and Latin-1', Buffer.from(`${MAIL}<html><script>é</script>`, 'latin1')],
      ['with long headers', `${MAIL.slice(0, -2)}X-Spam: ${'x '.repeat(20_000)}\r\n\r\nbody`],
      ['without a body, in lines of Unix', 'Date: today\nX-A: b\n'],
    ])('%s is accepted by its name or declared type', async (_what, content) => {
      expect(await judge(content, hint)).toBe('message/rfc822');
      expect(await judge(content, { contentType: 'message/rfc822' })).toBe('message/rfc822');
    });

    it.each([
      ['has no header', '<html><body>x</body></html>', refusal(PAGE)],
      ['has no field of e-mails', 'a: b\n\n<html>', refusal(hasMarkup('<html>'))],
      ['has markup in its header', 'From: <script>x</script>\n\nx', refusal(hasMarkup('<script>'))],
      ['begins with a script', '#!/bin/sh\nFrom: a\n\nx', refusal('the content is a script or a PostScript program')],
      ['has NUL', `${MAIL}\0`, refusal(NOTHING_KNOWN)],
    ])('is not accepted as one if it %s', async (_what, content, expected) => {
      expect(await judge(content, hint)).toBe(expected);
    });

    it('is text without its name and type, and if text is declared', async () => {
      expect(await judge(`${MAIL}Dear Bob`)).toBe('text/plain');
      expect(await judge(`${MAIL}Dear Bob`, { ...hint, contentType: 'text/plain' })).toBe('text/plain');
    });
  });

  it('distinguishes CSV in UTF-16 by its name', async () => {
    const csv = utf16('\ufeffContainer;Gewicht\r\nMSCU1234566;12,5 t – Köln\r\n', []);
    expect(await judge(csv, { fileName: 'a.csv' })).toBe('text/csv');
    expect(await judge(Buffer.from(csv).swap16(), { fileName: 'a.csv' })).toBe('text/csv');
  });

  it.each(REFUSED)('refuses %s', async (_name, content, why) => {
    expect(await judge(content)).toBe(refusal(why));
  });

  it.each<[string, DeclaredFileTypeAndName, string]>([
    ['the type that was declared', { contentType: 'Text/CSV; charset=utf-8' }, 'text/csv'],
    ['its name', { fileName: 'Übersicht.CSV' }, 'text/csv'],
    [
      'its name, where the declared type is none of text',
      { contentType: 'application/vnd.ms-excel', fileName: 'a.csv' },
      'text/csv',
    ],
    ['the type that was declared before its name', { contentType: 'text/plain', fileName: 'a.csv' }, 'text/plain'],
    ['nothing', { contentType: 'application/octet-stream', fileName: null }, 'text/plain'],
    ['what it cannot be', { contentType: 'application/pdf', fileName: 'a.pdf' }, 'text/plain'],
  ])('distinguishes CSV from plain text by %s', async (_name, hint, type) => {
    expect(await judge('a,b\n1,2\n', hint)).toBe(type);
  });

  it.each<[string, Content, string]>([
    ['PDF', createPdfBytes(), 'application/pdf'],
    ['XML', xmlOf(''), 'application/xml'],
    ['DOCX', createDocxBytes(), DOCX_MEDIA_TYPE_EXPECTED_BY_TESTS],
  ])('detects %s whatever the file name', async (_name, content, type) => {
    expect(await judge(content, { contentType: 'text/csv', fileName: 'a.csv' })).toBe(type);
  });

  it('does not depend on how the file is split', async () => {
    const all = [...TAKEN, ...REFUSED].map(([, content]) => bytesOf(content));
    const cut = fc.tuple(fc.constantFrom(...all), fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 8 }));
    await fc.assert(
      fc.asyncProperty(cut, async ([bytes, cuts]) => {
        const at = [0, ...cuts.filter((place) => place < bytes.length).sort((a, b) => a - b), bytes.length];
        // The memory of a chunk is reused, as a source may do.
        const memory = Buffer.alloc(bytes.length);
        const pieces = function* () {
          for (const [n, from] of at.slice(0, -1).entries()) {
            memory.fill(0x20);
            const size = bytes.copy(memory, 0, from, at[n + 1]);
            yield memory.subarray(0, size);
          }
        };
        expect(await judged(pieces())).toBe(await judge(bytes));
      }),
      { numRuns: choosePropertyTestRounds(1_000) },
    );
  });

  it.each(['<script>', '</IFRAME ', '<!DocType', '<?php'])('finds %s anywhere in the file', async (markup) => {
    const places = fc.tuple(fc.integer({ min: 1, max: DETECTION_BYTES + 200 }), fc.integer({ min: 1, max: 40_000 }));
    await fc.assert(
      fc.asyncProperty(places, async ([before, pieceBytes]) => {
        const bytes = Buffer.from(`${'é'.repeat(before)}${markup}${'y'.repeat(100)}`, 'latin1');
        expect(await judged(splitIntoByteChunks(bytes, pieceBytes))).toContain('the content contains HTML markup');
      }),
      { numRuns: choosePropertyTestRounds(200) },
    );
  });

  it('handles random bytes without an error', async () => {
    const start = fc.constantFrom(
      '',
      '%PDF-',
      '\x89PNG\r\n\x1a\n',
      '\xff\xd8\xff',
      'II*\0',
      'PK\x03\x04',
      '<?xml ',
      '<',
    );
    await fc.assert(
      fc.asyncProperty(start, fc.uint8Array({ minLength: 1, maxLength: 3_000 }), async (prefix, rest) => {
        expect(typeof (await judge(Buffer.concat([Buffer.from(prefix, 'latin1'), rest])))).toBe('string');
      }),
      { numRuns: choosePropertyTestRounds(2_000) },
    );
  });

  describe('an archive', () => {
    const zeros = Buffer.alloc(30 * 2 ** 20);
    const TOO_MUCH = refusal('the archive inflates too much');

    it('with parts that are too large together is refused', async () => {
      const parts = [1, 2, 3, 4].map((n) => ({ name: `word/media/${n}.bmp`, content: zeros }));
      expect(await judge(createDocxBytes(...parts))).toBe(TOO_MUCH);
    });

    it('with parts that share bytes is refused', async () => {
      const content = randomBytes(10_000);
      const shared = Array.from({ length: 3 }, (_, n) => ({ name: `word/${n}.bin`, content, isShared: true }));
      expect(await judge(createDocxBytes({ name: 'word/a.bin', content }, ...shared))).toBe(TOO_MUCH);
    });

    it('with a false directory is refused', async () => {
      expect(await judge(createDocxBytes({ name: 'word/a.xml', content: 'x', claimedBytes: 0xfffffff0 }))).toBe(
        TOO_MUCH,
      );
    });

    it('is refused even if only the part for the detection inflates', async () => {
      const bomb = { name: '[Content_Types].xml', content: zeros };
      expect(await judge(createZip([bomb, ...DOCX_PARTS.slice(1)]))).toBe(TOO_MUCH);
    });

    it('is accepted if its parts inflate to less than 100 times its size', async () => {
      const sheet = { name: 'xl/worksheets/sheet1.xml', content: zeros.subarray(0, 5 * 2 ** 20) };
      const picture = (bytes: number) => ({ name: 'xl/media/1.png', content: randomBytes(bytes), isStored: true });
      expect(await judge(createXlsxFile(sheet, picture(60_000)))).toBe(XLSX_MEDIA_TYPE_EXPECTED_BY_TESTS);
      expect(await judge(createXlsxFile(sheet, picture(40_000)))).toBe(TOO_MUCH);
    });
  });
});
