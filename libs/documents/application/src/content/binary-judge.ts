import type { DocumentContentType } from '@tracking/contracts';
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader } from 'yauzl';
import { DOCX_MEDIA_TYPE, type OfficeType, UnsupportedDocumentTypeError, XLSX_MEDIA_TYPE } from '../refusals.ts';
import type { ArchivePart } from './archive-parts.ts';

const END_RECORD_SIGNATURE = 'PK\x05\x06';
const DIRECTORY_ENTRY_SIGNATURE = 0x02014b50;
const END_RECORD_BYTES = 22;
/** Size of an archive's end record, with the longest comment. */
const MAX_END_RECORD_BYTES = END_RECORD_BYTES + 0xffff;

/** Checks a picture or PDF by its beginning. Refuses the file if it is also a ZIP, which readers detect by the end. */
export class BinaryFileChecker {
  private readonly tail = new LastBytesOfStream(MAX_END_RECORD_BYTES);

  constructor(private readonly contentType: DocumentContentType) {}

  checkContentBytes(bytes: Buffer): void {
    this.tail.keepLastBytes(bytes);
  }

  /** @throws UnsupportedDocumentTypeError */
  determineFileType(): DocumentContentType {
    if (endsWithArchiveRecord(this.tail.getLastKeptBytes()))
      throw new UnsupportedDocumentTypeError('the file has an archive at its end');
    return this.contentType;
  }
}

/**
 * Returns true if an end record stands exactly at the end of the file, or is preceded by a directory at the offset that
 * it declares.
 */
function endsWithArchiveRecord(tail: Buffer): boolean {
  for (let at = tail.lastIndexOf(END_RECORD_SIGNATURE, undefined, 'latin1'); at >= 0;) {
    if (isLastEndRecord(tail, at)) return true;
    if (at === 0) return false;
    at = tail.lastIndexOf(END_RECORD_SIGNATURE, at - 1, 'latin1');
  }
  return false;
}

function isLastEndRecord(tail: Buffer, at: number): boolean {
  if (at + END_RECORD_BYTES > tail.length) return false;
  if (at + END_RECORD_BYTES + tail.readUInt16LE(at + 20) === tail.length) return true;
  const directory = at - tail.readUInt32LE(at + 12);
  return directory >= 0 && directory < at && tail.readUInt32LE(directory) === DIRECTORY_ENTRY_SIGNATURE;
}

/** Maximum bytes of an archive's directory, enough for about 5,000 parts. */
const MAX_ARCHIVE_DIRECTORY_BYTES = 512 * 1_024;
/** Maximum size of all parts together, as a multiple of the size of the file and in bytes. */
const MAX_INFLATION_RATIO = 100;
const MAX_INFLATED_BYTES = 512 * 2 ** 20;

const OFFICE_MAIN_PART_PATTERNS: readonly (readonly [RegExp, OfficeType])[] = [
  [/^word\/document[^/]*\.xml$/, DOCX_MEDIA_TYPE],
  [/^xl\/workbook[^/]*\.xml$/, XLSX_MEDIA_TYPE],
];
/** Names of macros and of files that make an archive a program. */
const PROGRAM_FILE_NAME_PATTERN =
  /(?:^|\/)vbaproject\.bin$|^meta-inf\/|\.(?:bat|class|cmd|com|dex|dll|exe|hta|jar|js|jse|lnk|msi|pif|ps1|reg|scr|url|vbe|vbs|wsf)$/;

/**
 * Judges a ZIP as DOCX or XLSX by the directory at its end, which readers use. Inflates nothing. An archive is refused
 * if the beginning of the archive contradicts its directory, or if it contains more than the directory lists.
 */
export class ArchiveFileChecker {
  /** The parts in the directory; known after the end. */
  parts: readonly ArchivePart[] = [];

  private readonly tail = new LastBytesOfStream(MAX_ARCHIVE_DIRECTORY_BYTES);

  /** @param byBeginning result of the first entries; undefined if they are not conclusive */
  constructor(private readonly byBeginning: OfficeType | undefined) {}

  checkContentBytes(bytes: Buffer): void {
    this.tail.keepLastBytes(bytes);
  }

  /** @throws UnsupportedDocumentTypeError */
  async determineFileType(): Promise<OfficeType> {
    const directory = new ArchiveDirectoryEntryCollector(this.tail.total);
    for await (const entry of this.readArchiveEntries()) directory.checkArchiveEntryOfUpload(entry);
    const contentType = directory.determineOfficeType();
    this.parts = directory.parts;
    if (this.byBeginning !== undefined && contentType !== this.byBeginning)
      throw new UnsupportedDocumentTypeError('the beginning of the archive contradicts its directory');
    return contentType;
  }

  private async *readArchiveEntries(): AsyncGenerator<Entry> {
    try {
      const options = { decodeStrings: true, validateEntrySizes: true };
      yield* (
        await fromRandomAccessReaderPromise(new ArchiveEndReader(this.tail), this.tail.total, options)
      ).eachEntry();
    } catch {
      throw new UnsupportedDocumentTypeError('the archive is damaged, or has more than about 5,000 parts');
    }
  }
}

/** Collects the entries of an archive's directory. */
class ArchiveDirectoryEntryCollector {
  readonly parts: ArchivePart[] = [];
  private readonly names = new Set<string>();
  private beginsFile = false;
  private compressed = 0;
  private inflated = 0;

  constructor(private readonly fileBytes: number) {}

  checkArchiveEntryOfUpload(entry: Entry): void {
    const name = entry.fileName.toLowerCase().replace(/^\/+/, '');
    if (this.names.has(name)) throw new UnsupportedDocumentTypeError('the archive has two parts with the same name');
    if (entry.isEncrypted()) throw new UnsupportedDocumentTypeError('the file is encrypted');
    if (PROGRAM_FILE_NAME_PATTERN.test(name))
      throw new UnsupportedDocumentTypeError('the file contains macros or programs');
    this.names.add(name);
    this.beginsFile ||= entry.relativeOffsetOfLocalHeader === 0;
    this.parts.push({
      name,
      offset: entry.relativeOffsetOfLocalHeader,
      compressedBytes: entry.compressedSize,
      inflatedBytes: entry.uncompressedSize,
      method: entry.compressionMethod,
    });
    this.compressed += entry.compressedSize;
    this.inflated += entry.uncompressedSize;
    // Refuse parts that share bytes, because they let small files inflate the most.
    const isBomb = this.inflated > Math.min(MAX_INFLATED_BYTES, MAX_INFLATION_RATIO * this.fileBytes);
    if (isBomb || this.compressed > this.fileBytes)
      throw new UnsupportedDocumentTypeError('the archive inflates too much');
  }

  determineOfficeType(): OfficeType {
    const found = OFFICE_MAIN_PART_PATTERNS.filter(([part]) => [...this.names].some((name) => part.test(name)));
    const [only, ...others] = found.map(([, contentType]) => contentType);
    const isOffice = this.names.has('[content_types].xml') && others.length === 0;
    if (only === undefined || !isOffice)
      throw new UnsupportedDocumentTypeError('the file is an archive, but neither DOCX nor XLSX');
    if (!this.beginsFile)
      throw new UnsupportedDocumentTypeError('the first part of the archive is not in its directory');
    return only;
  }
}

class ArchiveEndReader extends RandomAccessReader {
  private readonly bytes: Buffer;
  private readonly start: number;

  constructor(tail: LastBytesOfStream) {
    super();
    this.bytes = tail.getLastKeptBytes();
    this.start = tail.start;
  }

  override read(
    ...[into, offset, length, position, done]: Parameters<RandomAccessReader['read']>
  ): ReturnType<RandomAccessReader['read']> {
    const from = position - this.start;
    if (from < 0) done(new RangeError('The requested position is before the first byte in memory.'));
    else (done as (error: null, bytesRead: number) => void)(null, this.bytes.copy(into, offset, from, from + length));
  }
}

/** The last bytes of a stream, in memory of a fixed size. */
export class LastBytesOfStream {
  private readonly ring: Buffer;
  /** Number of bytes passed so far. */
  total = 0;

  constructor(size: number) {
    this.ring = Buffer.alloc(size);
  }

  keepLastBytes(bytes: Uint8Array): void {
    const { ring } = this;
    const kept = bytes.subarray(Math.max(0, bytes.length - ring.length));
    const at = (this.total + bytes.length - kept.length) % ring.length;
    const fitting = kept.subarray(0, ring.length - at);
    ring.set(fitting, at);
    ring.set(kept.subarray(fitting.length), 0);
    this.total += bytes.length;
  }

  /** Offset of the first byte that is still kept. */
  get start(): number {
    return Math.max(0, this.total - this.ring.length);
  }

  /** Returns the kept bytes from the offset on. */
  getLastKeptBytes(): Buffer {
    const { ring, total } = this;
    if (total <= ring.length) return ring.subarray(0, total);
    const at = total % ring.length;
    return Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
  }
}
