import { createCipheriv, createHash, randomUUID } from 'node:crypto';
import type { ObjectContent } from '@tracking/ports';

const SAMPLE_CHUNK_BYTES = 65_536;
const PDF_HEADER = Buffer.from('%PDF-1.7\n');
const PDF_TRAILER = Buffer.from('\n%%EOF\n');

/**
 * Yields the chunks of a PDF with the given number of bytes. The content differs for every name and at every position.
 */
export function* generatePdfChunks(name: string, size: number): Generator<Buffer> {
  const key = createHash('md5').update(name).digest();
  const stream = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
  const zeros = Buffer.alloc(SAMPLE_CHUNK_BYTES);
  for (let at = 0; at < size; at += SAMPLE_CHUNK_BYTES) {
    const piece = stream.update(zeros.subarray(0, size - at));
    if (at === 0) PDF_HEADER.copy(piece);
    // The trailer is omitted if it would span two chunks, because nothing reads it.
    if (at + SAMPLE_CHUNK_BYTES >= size && piece.length > PDF_TRAILER.length)
      PDF_TRAILER.copy(piece, piece.length - PDF_TRAILER.length);
    yield piece;
  }
}

export function generatePdf(name: string, size: number): Buffer {
  return Buffer.concat([...generatePdfChunks(name, size)]);
}

/** Returns the SHA-256 of the chunks in lower-case hex. */
export function computeSha256(chunks: Iterable<Uint8Array>): string {
  const hash = createHash('sha256');
  for (const piece of chunks) hash.update(piece);
  return hash.digest('hex');
}

export const createRandomObjectId = () => `obj_${randomUUID()}`;

/** Returns bytes that differ for each id and position. */
export function generateSampleBytes(id: string, size: number): Buffer {
  const key = createHash('md5').update(id).digest();
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size));
}

/** Splits bytes into chunks whose sizes differ from the chunk size of every engine. */
export async function* splitIntoUnevenChunks(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7 + 1) % 100_003) {
    yield bytes.subarray(at, at + size);
  }
}

export async function readAllBytes(content: ObjectContent | undefined): Promise<Buffer> {
  if (content === undefined) throw new Error('the object does not exist');
  const parts: Uint8Array[] = [];
  for await (const bytes of content.bytes) parts.push(bytes);
  return Buffer.concat(parts);
}

/** A byte source that pauses halfway until it is released. */
export class ByteSourcePausedInMiddle {
  readonly reached: Promise<void>;
  open!: () => void;
  private readonly opened = new Promise<void>((resolve) => (this.open = resolve));
  private reach!: () => void;

  constructor(
    private readonly bytes: Buffer,
    private readonly at: number,
  ) {
    this.reached = new Promise((resolve) => (this.reach = resolve));
  }

  async *streamBytesWithPause(): AsyncGenerator<Uint8Array> {
    yield* splitIntoUnevenChunks(this.bytes.subarray(0, this.at));
    this.reach();
    await this.opened;
    yield* splitIntoUnevenChunks(this.bytes.subarray(this.at));
  }
}
