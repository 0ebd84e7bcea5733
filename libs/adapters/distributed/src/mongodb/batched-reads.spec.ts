import type { Document, DocumentsWithinByteLimit } from '@tracking/ports';
import { BatchedReads } from './batched-reads.ts';

const IDS = Array.from({ length: 12 }, (_, at) => `d${at}`);
/** Number of documents of one query in this test. */
const DOCUMENTS_PER_QUERY = 5;

describe('reads of single documents in one turn of the event loop', () => {
  let queries: { readonly ids: readonly string[]; readonly maxBytes: number | undefined }[];
  /** Called before each query. */
  let beforeQuery: () => Promise<void>;
  let reads: BatchedReads<Document>;
  beforeEach(() => {
    queries = [];
    beforeQuery = () => Promise.resolve();
    reads = new BatchedReads({}, async (ids, _, maxBytes): Promise<DocumentsWithinByteLimit<Document>> => {
      queries.push({ ids, maxBytes });
      await beforeQuery();
      const stored = ids.filter((id) => id !== 'absent');
      const found = maxBytes === undefined ? stored : stored.slice(0, DOCUMENTS_PER_QUERY);
      return { documents: found.map((id) => ({ id })), isCut: found.length < stored.length };
    });
  });
  const readAll = (ids: readonly string[]) => Promise.all(ids.map((id) => reads.readDocumentInNextBatch(id)));

  it('are one query if they are few', async () => {
    expect(await readAll(['one', 'absent', 'one', 'two'])).toEqual([
      { id: 'one' },
      undefined,
      { id: 'one' },
      { id: 'two' },
    ]);
    expect(queries).toEqual([{ ids: ['one', 'absent', 'two'], maxBytes: undefined }]);
  });

  it('are several queries if the documents are large', async () => {
    expect(await readAll([...IDS, 'absent'])).toEqual([...IDS.map((id) => ({ id })), undefined]);
    expect(queries.map(({ ids }) => ids.length)).toEqual([13, 8]);
    expect(queries[0]?.maxBytes).toBeLessThan(16 * 1_024 * 1_024);
  });

  it('do not wait for later queries, and do not fail with them', async () => {
    const later = Promise.withResolvers<void>();
    beforeQuery = () => (queries.length === 1 ? Promise.resolve() : later.promise);
    const [first, ...others] = IDS.map((id) => reads.readDocumentInNextBatch(id));
    expect(await first).toEqual({ id: 'd0' });
    later.reject(new Error('away'));
    const outcomes = await Promise.allSettled(others);
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...Array.from({ length: DOCUMENTS_PER_QUERY - 1 }, () => 'fulfilled'),
      ...Array.from({ length: IDS.length - DOCUMENTS_PER_QUERY }, () => 'rejected'),
    ]);
  });
});
