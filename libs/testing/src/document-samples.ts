import { createCipheriv, createHash } from 'node:crypto';

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
