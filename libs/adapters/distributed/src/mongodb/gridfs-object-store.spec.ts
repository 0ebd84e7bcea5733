import { parseFreeBytes, splitIntoChunks } from './gridfs-object-store.ts';

async function chunksOf(...pieces: readonly string[]): Promise<string[]> {
  const chunks: string[] = [];
  async function* source() {
    const memory = Buffer.alloc(100);
    for (const piece of pieces) yield memory.subarray(0, memory.write(piece));
  }
  for await (const chunk of splitIntoChunks(source(), 4)) chunks.push(String(Buffer.from(chunk)));
  return chunks;
}

describe('bytes in chunks', () => {
  it('contain the same bytes, each chunk full except the last', async () => {
    expect(await chunksOf('abcdefghij')).toEqual(['abcd', 'efgh', 'ij']);
    expect(await chunksOf('a', 'bc', '', 'defg', 'hijklmnopq')).toEqual(['abcd', 'efgh', 'ijkl', 'mnop', 'q']);
  });

  it('include no empty chunk', async () => {
    expect(await chunksOf()).toEqual([]);
    expect(await chunksOf('', '')).toEqual([]);
    expect(await chunksOf('abcd', '')).toEqual(['abcd']);
  });
});

describe('free bytes of the disk', () => {
  it('include those that MongoDB keeps for reuse', () => {
    expect(parseFreeBytes({ fsTotalSize: 1_000, fsUsedSize: 900 })).toBe(100);
    expect(parseFreeBytes({ fsTotalSize: 1_000, fsUsedSize: 900, freeStorageSize: 50 })).toBe(150);
  });

  it('are unknown if the server does not report its disk', () => {
    expect(parseFreeBytes({ ok: 1 })).toBeUndefined();
    expect(parseFreeBytes({ fsTotalSize: 0, fsUsedSize: 0 })).toBeUndefined();
  });
});
