/**
 * The same bytes in chunks of one size, but for the last; none of no bytes. Each is a copy, since sources may use their
 * memory again.
 */
export async function* inChunks(source: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let chunk = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  for await (const bytes of source) {
    for (let at = 0; at < bytes.length;) {
      const taken = bytes.subarray(at, at + size - filled);
      chunk.set(taken, filled);
      filled += taken.length;
      at += taken.length;
      if (filled < size) continue;
      yield chunk;
      chunk = Buffer.allocUnsafeSlow(size);
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}
