import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';
import { Parser } from 'htmlparser2';
import { UnsupportedDocumentTypeError } from '../refusals.ts';
import { refuseForeignXmlEncoding } from './text-judge.ts';

/** A part of an archive, as its directory describes it. */
export interface ArchivePart {
  /** Name in lower case. */
  readonly name: string;
  /** Offset of its local header. */
  readonly offset: number;
  readonly compressedBytes: number;
  readonly inflatedBytes: number;
  /** 0 if the part is stored, 8 if it is deflated. */
  readonly method: number;
}

const ZIP_LOCAL_HEADER_SIGNATURE = 0x04034b50;
const LOCAL_HEADER_BYTES = 30;
/** Maximum size of all parts together that list relationships. */
const MAX_RELATIONSHIPS_BYTES = 4 * 2 ** 20;

/**
 * Inflates the parts of a stored archive one after another, and keeps nothing. Refuses the archive if a part is larger
 * than the directory says, or has a relationship with another host that programs load when they open the file. The
 * directory was checked before, and limits the work.
 * @param bytes all bytes of the archive; read once
 * @throws UnsupportedDocumentTypeError; errors of `bytes`
 */
export async function checkArchiveParts(
  parts: readonly ArchivePart[],
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  const lists = parts.filter(isRelationshipsPart);
  if (lists.reduce((sum, { inflatedBytes }) => sum + inflatedBytes, 0) > MAX_RELATIONSHIPS_BYTES)
    throw new UnsupportedDocumentTypeError('the document has too many relationships');
  const archive = new SequentialByteReader(bytes);
  try {
    for (const part of [...parts].sort((a, b) => a.offset - b.offset)) {
      await archive.skipToArchivePosition(part.offset);
      const header = await archive.readBytes(LOCAL_HEADER_BYTES);
      if (header.readUInt32LE(0) !== ZIP_LOCAL_HEADER_SIGNATURE) throw damagedArchiveError();
      await archive.skipToArchivePosition(archive.position + header.readUInt16LE(26) + header.readUInt16LE(28));
      await checkArchivePartContent(part, archive);
    }
  } finally {
    await archive.closeByteReader();
  }
}

function isRelationshipsPart({ name }: ArchivePart): boolean {
  return name.endsWith('.rels');
}

async function checkArchivePartContent(part: ArchivePart, archive: SequentialByteReader): Promise<void> {
  const relationships = isRelationshipsPart(part) ? new ArchiveRelationshipChecker() : undefined;
  const end = archive.position + part.compressedBytes;
  let size = 0;
  const check = async (content: AsyncIterable<Uint8Array>) => {
    for await (const bytes of content) {
      size += bytes.length;
      if (size > part.inflatedBytes) throw new UnsupportedDocumentTypeError('the archive inflates too much');
      relationships?.parseRelationshipBytes(bytes);
    }
  };
  if (part.method === 0) await check(archive.readBytesUntilPosition(end));
  else if (part.method === 8) await inflateAndCheckContent(archive.readBytesUntilPosition(end), check);
  else throw damagedArchiveError();
  if (archive.position !== end || size !== part.inflatedBytes) throw damagedArchiveError();
  relationships?.finishRelationshipParsing();
}

async function inflateAndCheckContent(
  content: AsyncIterable<Uint8Array>,
  check: (content: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  try {
    await pipeline(Readable.from(content), createInflateRaw({ chunkSize: 65_536 }), check);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code?.startsWith('Z_') === true ? damagedArchiveError() : error;
  }
}

function damagedArchiveError(): UnsupportedDocumentTypeError {
  return new UnsupportedDocumentTypeError('the archive is damaged');
}

/** Reads bytes in order and skips others. */
class SequentialByteReader {
  position = 0;
  private readonly iterator: AsyncIterator<Uint8Array>;
  private current: Buffer = Buffer.alloc(0);

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.iterator = bytes[Symbol.asyncIterator]();
  }

  async skipToArchivePosition(position: number): Promise<void> {
    // Overlapping parts would let a small file inflate many times.
    if (position < this.position) throw damagedArchiveError();
    const skipped = this.readBytesUntilPosition(position);
    while ((await skipped.next()).done !== true) continue;
  }

  async readBytes(count: number): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.readBytesUntilPosition(this.position + count)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** Iterates over the bytes before the position. */
  async *readBytesUntilPosition(end: number): AsyncGenerator<Uint8Array> {
    while (this.position < end) {
      if (this.current.length === 0) {
        const { done, value } = await this.iterator.next();
        if (done === true) throw damagedArchiveError();
        this.current = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      }
      const piece = this.current.subarray(0, end - this.position);
      this.current = this.current.subarray(piece.length);
      this.position += piece.length;
      yield piece;
    }
  }

  async closeByteReader(): Promise<void> {
    await this.iterator.return?.();
  }
}

/** Reads a part that lists relationships, which is XML in UTF-8. */
class ArchiveRelationshipChecker {
  private readonly parser = new Parser(
    {
      onopentag(_name, { Type = '', Target = '' }) {
        if (!/\/hyperlink$/i.test(Type.trim()) && isLinkTargetOutsideArchive(Target))
          throw new UnsupportedDocumentTypeError('the document loads a template or other content from another host');
      },
      onprocessinginstruction(name, text) {
        if (name.startsWith('!'))
          throw new UnsupportedDocumentTypeError('the relationships have a document type declaration');
        if (name === '?xml') refuseForeignXmlEncoding(text);
      },
    },
    { xmlMode: true },
  );

  parseRelationshipBytes(bytes: Uint8Array): void {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    if (text.includes('\0')) throw new UnsupportedDocumentTypeError('the relationships are not in UTF-8');
    this.parser.write(text);
  }

  finishRelationshipParsing(): void {
    this.parser.end();
  }
}

/** Returns true unless the target is a path in the archive, or a path on a drive of the reader's system. */
function isLinkTargetOutsideArchive(target: string): boolean {
  // Windows removes white space anywhere in a URL, also in its scheme.
  const path = target.replaceAll(/\s/g, '').replace(/^file:(?:\/{0,3}(?=[a-z][:|])|\/{3}(?=\w))/i, '');
  return /^(?:[\\/]{2}|[a-z][a-z0-9+.-]+:)/i.test(path);
}
