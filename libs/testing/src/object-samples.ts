import { createCipheriv, createHash, randomUUID } from 'node:crypto';
import type { ObjectContent } from '@tracking/ports';

const PIECE_BYTES = 65_536;
const BEGINNING = Buffer.from('%PDF-1.7\n');
const END = Buffer.from('\n%%EOF\n');

/** A PDF by its beginning, of this many bytes, which no other name has, nor any other place of this one. */
export function* pdfPieces(name: string, size: number): Generator<Buffer> {
  const key = createHash('md5').update(name).digest();
  const stream = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
  const zeros = Buffer.alloc(PIECE_BYTES);
  for (let at = 0; at < size; at += PIECE_BYTES) {
    const piece = stream.update(zeros.subarray(0, size - at));
    if (at === 0) BEGINNING.copy(piece);
    // Cut off where it stands across two pieces: nothing reads it.
    if (at + PIECE_BYTES >= size && piece.length > END.length) END.copy(piece, piece.length - END.length);
    yield piece;
  }
}

export function pdfOf(name: string, size: number): Buffer {
  return Buffer.concat([...pdfPieces(name, size)]);
}

/** Lower-case hex. */
export function sha256Of(pieces: Iterable<Uint8Array>): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}

export const freshId = () => `obj_${randomUUID()}`;

/** Bytes that no other object has, nor any other place of this one. */
export function bytesOf(id: string, size: number): Buffer {
  const key = createHash('md5').update(id).digest();
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size));
}

/** In pieces of which none fits any engine's. */
export async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7 + 1) % 100_003) {
    yield bytes.subarray(at, at + size);
  }
}

export async function all(content: ObjectContent | undefined): Promise<Buffer> {
  if (content === undefined) throw new Error('there is no such object');
  const parts: Uint8Array[] = [];
  for await (const bytes of content.bytes) parts.push(bytes);
  return Buffer.concat(parts);
}

/** A source that stops in the middle until it is told to go on. */
export class SourceGate {
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

  async *source(): AsyncGenerator<Uint8Array> {
    yield* pieces(this.bytes.subarray(0, this.at));
    this.reach();
    await this.opened;
    yield* pieces(this.bytes.subarray(this.at));
  }
}
