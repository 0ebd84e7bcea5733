import type { DocumentContentType } from '@tracking/contracts';
import { fileTypeFromBuffer } from 'file-type';
import { DOCX_MEDIA_TYPE, type OfficeType, UnsupportedDocumentTypeError, XLSX_MEDIA_TYPE } from '../refusals.ts';
import type { ArchivePart } from './archive-parts.ts';
import { ArchiveFileChecker, BinaryFileChecker } from './binary-judge.ts';
import { COMPOUND_SIGNATURE, OutlookMessageFileChecker } from './compound-judge.ts';
import { type DeclaredFileTypeAndName, createStreamingTextChecker, HTML_IN_BINARY_PATTERN } from './text-judge.ts';

interface ContentTypeChecker {
  checkContentBytes(bytes: Buffer): void;
  determineFileType(): DocumentContentType | Promise<DocumentContentType>;
}

/**
 * Determines the type of a file from its bytes as they pass, however they are split: from its beginning, and then from
 * all of it or its end, depending on the type. Memory does not grow with the file.
 */
export class FileTypeDetector {
  private head: Buffer[] = [];
  private headBytes = 0;
  private judge: ContentTypeChecker | undefined;

  constructor(private readonly hint: DeclaredFileTypeAndName) {}

  /** @throws UnsupportedDocumentTypeError as early as possible */
  async checkContentBytes(bytes: Uint8Array): Promise<void> {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (this.judge !== undefined) return this.judge.checkContentBytes(piece);
    // Copy the bytes, because the source may reuse the memory.
    const missing = DETECTION_BYTES - this.headBytes;
    this.head.push(Buffer.from(piece.subarray(0, missing)));
    this.headBytes += Math.min(piece.length, missing);
    if (this.headBytes < DETECTION_BYTES) return;
    const judge = await this.chooseContentTypeChecker();
    judge.checkContentBytes(piece.subarray(missing));
  }

  /**
   * Returns the type of the file. Call this method after the last byte of a file that is not empty. @throws
   * UnsupportedDocumentTypeError
   */
  async determineFileType(): Promise<DocumentContentType> {
    return (this.judge ?? (await this.chooseContentTypeChecker())).determineFileType();
  }

  /** The parts of an archive, which must be checked after the end. Empty for other types. */
  get archiveParts(): readonly ArchivePart[] {
    return this.judge instanceof ArchiveFileChecker ? this.judge.parts : [];
  }

  private async chooseContentTypeChecker(): Promise<ContentTypeChecker> {
    const head = Buffer.concat(this.head);
    this.head = [];
    this.judge = this.createFileContentCheckerForBeginning(await detectTypeFromBeginning(head), head);
    this.judge.checkContentBytes(head);
    return this.judge;
  }

  private createFileContentCheckerForBeginning(beginning: Beginning, head: Buffer): ContentTypeChecker {
    switch (beginning.kind) {
      case 'binary':
        return new BinaryFileChecker(beginning.contentType);
      case 'archive':
        return new ArchiveFileChecker(beginning.contentType);
      case 'compound':
        return new OutlookMessageFileChecker(head);
      case 'text':
        return createStreamingTextChecker(head, this.hint);
    }
  }
}

/** Number of first bytes used for the detection. Limits the data that the library can inflate. */
export const DETECTION_BYTES = 16_384;
/** Number of first bytes in which markup makes readers treat the file as a web page, whatever follows. */
const BYTES_SNIFFED_FOR_MARKUP = 1_024;

type BinaryType = Extract<DocumentContentType, 'application/pdf' | `image/${string}`>;

type Beginning =
  | { readonly kind: 'binary'; readonly contentType: BinaryType }
  /** A ZIP. `contentType`: the type that its first bytes show, if they show one. */
  | { readonly kind: 'archive'; readonly contentType: OfficeType | undefined }
  /** A message of Outlook or an older Office file. */
  | { readonly kind: 'compound' }
  | { readonly kind: 'text' };

const FILE_TYPE_SIGNATURES: readonly (readonly [string, BinaryType | 'archive' | 'compound'])[] = [
  ['%PDF-', 'application/pdf'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['II*\0', 'image/tiff'],
  ['MM\0*', 'image/tiff'],
  ['II+\0', 'image/tiff'],
  ['MM\0+', 'image/tiff'],
  ['PK\x03\x04', 'archive'],
  [COMPOUND_SIGNATURE, 'compound'],
];

/** Types as named by the library, which also recognizes other types that begin alike, such as raw photos. */
const ACCEPTED_TYPE_BY_DETECTED_TYPE: Readonly<Record<string, BinaryType>> = {
  'application/pdf': 'application/pdf',
  'image/png': 'image/png',
  // Accept animated PNGs as PNG.
  'image/apng': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/tiff': 'image/tiff',
  'image/webp': 'image/webp',
  'image/heic': 'image/heic',
  'image/heif': 'image/heic',
  'image/heic-sequence': 'image/heic',
  'image/heif-sequence': 'image/heic',
};

/** Signatures that do not begin with the first byte, or have bytes of any value. */
const FILE_SIGNATURE_PATTERNS: readonly (readonly [RegExp, BinaryType])[] = [
  [/^RIFF[^]{4}WEBP/, 'image/webp'],
  [/^[^]{4}ftyp(?:hei[cmsx]|hev[cmsx]|mif1|msf1)/, 'image/heic'],
];

/** Beginning of a PDF, with its version. Readers accept it anywhere in the first 1,024 bytes (ISO 32000-1, annex H). */
const PDF_BEGINNING_PATTERN = /%PDF-[12]\.\d/;
const PDF_OBJECT_PATTERN = /\d[\0\t\n\f\r ]+\d+[\0\t\n\f\r ]+obj\b/;
/** Beginnings of programs, scripts and other formats. A file that begins so is not a PDF, even if a PDF follows. */
const REFUSED_FILE_BEGINNING_PATTERN =
  /^(?:MZ|\x7fELF|#!|%!|GIF8|Rar!|7z\xbc\xaf|\x1f\x8b|BZh|\xfd7zXZ|\xca\xfe\xba\xbe|[\xcf\xce]\xfa\xed\xfe|\0asm|\{\\rtf|RIFF|[^]{4}ftyp)/;

/**
 * Determines the type from the first bytes. The library only sees files that begin like an accepted type, so most of
 * its parsers, for types that are refused anyway, never run.
 * @param head the first `DETECTION_BYTES` of the file, or the whole file if it is shorter; without bytes before a PDF
 * @param before first bytes of a file whose PDF begins later
 * @throws UnsupportedDocumentTypeError
 */
async function detectTypeFromBeginning(head: Buffer, before = ''): Promise<Beginning> {
  const start = head.toString('latin1', 0, BYTES_SNIFFED_FOR_MARKUP);
  const magic = findTypeByFileSignature(start);
  if (magic === undefined) return detectPdfAfterOtherBytes(head, start);
  if (magic === 'compound') return { kind: 'compound' };
  const detected = await fileTypeFromBuffer(head).catch(() => undefined);
  if (magic === 'archive') return { kind: 'archive', contentType: toOfficeDocumentMediaType(detected?.mime) };
  const contentType = requireDetectedTypeEqualsSignature(magic, detected?.mime);
  if (HTML_IN_BINARY_PATTERN.test(before + start))
    throw new UnsupportedDocumentTypeError('the file begins with HTML markup');
  return { kind: 'binary', contentType };
}

/** @param mime type by the library, which knows more types that begin like an accepted one */
function requireDetectedTypeEqualsSignature(magic: BinaryType, mime: string | undefined): BinaryType {
  // Accept a TIFF by its signature: the library reads its directory, which may lie beyond the first bytes.
  const contentType = mime === undefined && magic === 'image/tiff' ? magic : ACCEPTED_TYPE_BY_DETECTED_TYPE[mime ?? ''];
  if (contentType !== magic) throw new UnsupportedDocumentTypeError(`the content is ${describeFileType(mime)}`);
  return contentType;
}

function findTypeByFileSignature(start: string): BinaryType | 'archive' | 'compound' | undefined {
  return (
    FILE_TYPE_SIGNATURES.find(([bytes]) => start.startsWith(bytes))?.[1] ??
    FILE_SIGNATURE_PATTERNS.find(([pattern]) => pattern.test(start))?.[1]
  );
}

/**
 * Detects a PDF that begins after other bytes, such as those of a printer or a mail gateway. A text that only mentions
 * the signature has no objects of a PDF.
 * @throws UnsupportedDocumentTypeError
 */
async function detectPdfAfterOtherBytes(head: Buffer, start: string): Promise<Beginning> {
  const at = start.search(PDF_BEGINNING_PATTERN);
  const isPdf =
    at > 0 && !REFUSED_FILE_BEGINNING_PATTERN.test(start) && PDF_OBJECT_PATTERN.test(head.toString('latin1', at));
  return isPdf ? detectTypeFromBeginning(head.subarray(at), start) : { kind: 'text' };
}

function toOfficeDocumentMediaType(mime: string | undefined): OfficeType | undefined {
  if (mime === DOCX_MEDIA_TYPE || mime === XLSX_MEDIA_TYPE) return mime;
  // Keep the result open, because a later entry of the archive may decide.
  if (mime === undefined || mime === 'application/zip') return undefined;
  throw new UnsupportedDocumentTypeError(`the content is ${describeFileType(mime)}`);
}

function describeFileType(mime: string | undefined): string {
  return mime ?? 'damaged or of an unknown type';
}
