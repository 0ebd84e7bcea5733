import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader } from 'yauzl';
import { UnsupportedDocumentType } from '../refusals.ts';
import { DOCX, type OfficeType, XLSX } from './content-types.ts';
import { Tail } from './tail.ts';

/** Room for the directory of an archive: some 5,000 parts. */
const DIRECTORY_BYTES = 512 * 1_024;
/** What grows to more than so much and by more than so many times is no document. */
const MOST_INFLATED_BYTES = 100 * 2 ** 20;
const MOST_INFLATION = 200;

const MAIN_PARTS: readonly (readonly [RegExp, OfficeType])[] = [
  [/^word\/document[^/]*\.xml$/, DOCX],
  [/^xl\/workbook[^/]*\.xml$/, XLSX],
];
/** Macros, and what makes an archive a program. */
const PROGRAMS = /(?:^|\/)vbaproject\.bin$|^meta-inf\/|\.(?:class|dex|jar|exe|dll|scr|msi)$/;

/**
 * A ZIP: DOCX or XLSX by the directory at its end, which is what readers go by. Nothing is inflated. An archive whose
 * beginning says something else than its directory, or that holds more than the directory names, is refused.
 */
export class ArchiveJudge {
  private readonly tail = new Tail(DIRECTORY_BYTES);

  /** @param byBeginning what its first entries say; undefined where they do not tell */
  constructor(private readonly byBeginning: OfficeType | undefined) {}

  take(bytes: Buffer): void {
    this.tail.take(bytes);
  }

  /** @throws UnsupportedDocumentType */
  async end(): Promise<OfficeType> {
    const directory = new Directory(this.tail.total);
    for await (const entry of this.entries()) directory.add(entry);
    const contentType = directory.contentType();
    if (this.byBeginning !== undefined && contentType !== this.byBeginning)
      throw new UnsupportedDocumentType('its beginning says something else than its directory');
    return contentType;
  }

  private async *entries(): AsyncGenerator<Entry> {
    try {
      const options = { decodeStrings: true, validateEntrySizes: true };
      yield* (await fromRandomAccessReaderPromise(new TailReader(this.tail), this.tail.total, options)).eachEntry();
    } catch {
      throw new UnsupportedDocumentType('it is a damaged archive, or one of more than some 5,000 parts');
    }
  }
}

/** What the entries of a directory say together. */
class Directory {
  private readonly names = new Set<string>();
  private beginsFile = false;
  private compressed = 0;
  private inflated = 0;

  constructor(private readonly fileBytes: number) {}

  add(entry: Entry): void {
    const name = entry.fileName.toLowerCase().replace(/^\/+/, '');
    if (this.names.has(name)) throw new UnsupportedDocumentType('it is an archive with two parts of one name');
    if (entry.isEncrypted()) throw new UnsupportedDocumentType('it is encrypted');
    if (PROGRAMS.test(name)) throw new UnsupportedDocumentType('it has macros or programs in it');
    this.names.add(name);
    this.beginsFile ||= entry.relativeOffsetOfLocalHeader === 0;
    this.compressed += entry.compressedSize;
    this.inflated += entry.uncompressedSize;
    // Parts that share bytes are how small files grow most.
    const isBomb = this.inflated > MOST_INFLATED_BYTES && this.inflated > MOST_INFLATION * this.fileBytes;
    if (isBomb || this.compressed > this.fileBytes) throw new UnsupportedDocumentType('it inflates too much');
  }

  contentType(): OfficeType {
    const found = MAIN_PARTS.filter(([part]) => [...this.names].some((name) => part.test(name)));
    const [only, ...others] = found.map(([, contentType]) => contentType);
    const isOffice = this.names.has('[content_types].xml') && others.length === 0;
    if (only === undefined || !isOffice) throw new UnsupportedDocumentType('it is an archive, neither DOCX nor XLSX');
    if (!this.beginsFile) throw new UnsupportedDocumentType('its beginning is not in its directory');
    return only;
  }
}

class TailReader extends RandomAccessReader {
  private readonly bytes: Buffer;
  private readonly start: number;

  constructor(tail: Tail) {
    super();
    this.bytes = tail.bytes();
    this.start = tail.start;
  }

  override read(
    ...[into, offset, length, position, done]: Parameters<RandomAccessReader['read']>
  ): ReturnType<RandomAccessReader['read']> {
    const from = position - this.start;
    if (from < 0) done(new RangeError('before what is kept'));
    else (done as (error: null, bytesRead: number) => void)(null, this.bytes.copy(into, offset, from, from + length));
  }
}
