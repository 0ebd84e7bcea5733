import type { DocumentContentType } from '@tracking/contracts';
import { fileTypeFromBuffer } from 'file-type';
import { DOCX, type OfficeType, UnsupportedDocumentType, XLSX } from '../refusals.ts';
import type { ArchivePart } from './archive-parts.ts';
import { ArchiveJudge, BinaryJudge } from './binary-judge.ts';
import { type ContentHint, PAGE_BEGINNING, TextJudge } from './text-judge.ts';

interface ContentJudge {
  take(bytes: Buffer): void;
  end(): DocumentContentType | Promise<DocumentContentType>;
}

/**
 * Determines the type of a file from its bytes as they pass, however they are split: from its beginning, and then from
 * all of it or its end, depending on the type. Memory does not grow with the file.
 */
export class FileTypeJudge {
  private head: Buffer[] = [];
  private headBytes = 0;
  private judge: ContentJudge | undefined;

  constructor(private readonly hint: ContentHint) {}

  /** @throws UnsupportedDocumentType as early as possible */
  async take(bytes: Uint8Array): Promise<void> {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (this.judge !== undefined) return this.judge.take(piece);
    // Copy the bytes, because the source may reuse the memory.
    const missing = DETECTION_BYTES - this.headBytes;
    this.head.push(Buffer.from(piece.subarray(0, missing)));
    this.headBytes += Math.min(piece.length, missing);
    if (this.headBytes < DETECTION_BYTES) return;
    const judge = await this.detectType();
    judge.take(piece.subarray(missing));
  }

  /**
   * Returns the type of the file. Call this method after the last byte of a file that is not empty. @throws
   * UnsupportedDocumentType
   */
  async end(): Promise<DocumentContentType> {
    return (this.judge ?? (await this.detectType())).end();
  }

  /** The parts of an archive, which must be checked after the end. Empty for other types. */
  get archiveParts(): readonly ArchivePart[] {
    return this.judge instanceof ArchiveJudge ? this.judge.parts : [];
  }

  private async detectType(): Promise<ContentJudge> {
    const head = Buffer.concat(this.head);
    this.head = [];
    this.judge = this.createJudge(await detectBeginning(head), head);
    this.judge.take(head);
    return this.judge;
  }

  private createJudge(beginning: Beginning, head: Buffer): ContentJudge {
    switch (beginning.kind) {
      case 'binary':
        return new BinaryJudge(beginning.contentType);
      case 'archive':
        return new ArchiveJudge(beginning.contentType);
      case 'text':
        return new TextJudge(head, this.hint);
    }
  }
}

/** Number of first bytes used for the detection. Limits the data that the library can inflate. */
export const DETECTION_BYTES = 16_384;
/** Number of first bytes in which markup makes readers treat the file as a web page, whatever follows. */
const SNIFFED_BYTES = 1_024;

type BinaryType = Extract<DocumentContentType, 'application/pdf' | `image/${string}`>;

type Beginning =
  | { readonly kind: 'binary'; readonly contentType: BinaryType }
  /** A ZIP. `contentType`: where its beginning tells what is in it. */
  | { readonly kind: 'archive'; readonly contentType: OfficeType | undefined }
  | { readonly kind: 'text' };

const TYPE_SIGNATURES: readonly (readonly [string, BinaryType | 'archive'])[] = [
  ['%PDF-', 'application/pdf'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['II*\0', 'image/tiff'],
  ['MM\0*', 'image/tiff'],
  ['II+\0', 'image/tiff'],
  ['MM\0+', 'image/tiff'],
  ['PK\x03\x04', 'archive'],
];

/** Types as named by the library, which also recognizes other types that begin alike, such as raw photos. */
const LIBRARY_TYPES: Readonly<Record<string, BinaryType>> = {
  'application/pdf': 'application/pdf',
  'image/png': 'image/png',
  // Accept animated PNGs as PNG.
  'image/apng': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/tiff': 'image/tiff',
};

/**
 * Determines the type from the first bytes. The library only sees files that begin like an accepted type, so most of
 * its parsers, for types that are refused anyway, never run.
 * @param head the first `HEAD_BYTES` of the file, or all of it
 * @throws UnsupportedDocumentType
 */
async function detectBeginning(head: Buffer): Promise<Beginning> {
  const start = head.toString('latin1', 0, SNIFFED_BYTES);
  const magic = TYPE_SIGNATURES.find(([bytes]) => start.startsWith(bytes))?.[1];
  if (magic === undefined) return { kind: 'text' };
  const detected = await fileTypeFromBuffer(head).catch(() => undefined);
  if (magic === 'archive') return { kind: 'archive', contentType: toOfficeType(detected?.mime) };
  // Accept a TIFF by its signature: the library reads its directory, which may lie beyond the first bytes.
  const contentType = detected === undefined && magic === 'image/tiff' ? magic : LIBRARY_TYPES[detected?.mime ?? ''];
  if (contentType !== magic) throw new UnsupportedDocumentType(`it is ${describeType(detected?.mime)}`);
  if (PAGE_BEGINNING.test(start)) throw new UnsupportedDocumentType('the file begins with HTML markup');
  return { kind: 'binary', contentType };
}

function toOfficeType(mime: string | undefined): OfficeType | undefined {
  if (mime === DOCX || mime === XLSX) return mime;
  // Keep the result open, because a later entry of the archive may decide.
  if (mime === undefined || mime === 'application/zip') return undefined;
  throw new UnsupportedDocumentType(`it is ${describeType(mime)}`);
}

function describeType(mime: string | undefined): string {
  return mime ?? 'damaged or of an unknown type';
}
