import { StorageFullError } from '@tracking/ports';
import { noMetrics } from '@tracking/testing';
import { MongoStub } from '../../test/mongodb/mongo-stub.ts';
import { GridfsObjectStore, parseFreeBytesOfDbStats, splitByteStreamIntoChunks } from './gridfs-object-store.ts';
import { MongoConnection } from './mongo-connection.ts';

async function chunksOf(...pieces: readonly string[]): Promise<string[]> {
  const chunks: string[] = [];
  async function* source() {
    const memory = Buffer.alloc(100);
    for (const piece of pieces) yield memory.subarray(0, memory.write(piece));
  }
  for await (const chunk of splitByteStreamIntoChunks(source(), 4)) chunks.push(String(Buffer.from(chunk)));
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
    expect(parseFreeBytesOfDbStats({ fsTotalSize: 1_000, fsUsedSize: 900 })).toBe(100);
    expect(parseFreeBytesOfDbStats({ fsTotalSize: 1_000, fsUsedSize: 900, freeStorageSize: 50 })).toBe(150);
  });

  it('are unknown if the server does not report its disk', () => {
    expect(parseFreeBytesOfDbStats({ ok: 1 })).toBeUndefined();
    expect(parseFreeBytesOfDbStats({ fsTotalSize: 0, fsUsedSize: 0 })).toBeUndefined();
  });

  it('are not used by objects beyond the reserve', async () => {
    const stub = await MongoStub.startMongoStub((command) =>
      'dbStats' in command ? { fsTotalSize: 1_000, fsUsedSize: 900, ok: 1 } : undefined,
    );
    const connection = new MongoConnection({ url: stub.formatMongoConnectionString(), metrics: noMetrics });
    async function* source() {
      yield Buffer.from('a');
    }
    const put = (reserveBytes: number) => new GridfsObjectStore(connection, reserveBytes).putObject('obj_a', source());
    await expect(put(101)).rejects.toThrow(StorageFullError);
    expect(stub.commands.filter(({ insert }) => insert === 'objects.chunks')).toEqual([]);
    // The stub stores nothing, so this upload fails later.
    await expect(put(100)).rejects.not.toThrow(StorageFullError);
    expect(stub.commands.filter(({ insert }) => insert === 'objects.chunks')).toHaveLength(1);
    await connection.closeConnection();
    await stub.closeMongoStub();
  });
});
