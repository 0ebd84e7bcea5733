import { DuplicateKey, Unavailable } from '@tracking/ports';
import { noMetrics, readMongoCommandName } from '@tracking/testing';
import { createCursorReply, MongoStub } from '../../test/mongodb/mongo-stub.ts';
import { MongoCollection } from './mongo-collection.ts';
import { MongoConnection } from './mongo-connection.ts';

interface Thing {
  readonly id: string;
  readonly version: number;
}

const SPEC = { name: 'things', indexes: [{ name: 'by_version', fields: ['version'], unique: true }] };
const DUPLICATE = {
  code: 11_000,
  errmsg: 'E11000 duplicate key error collection: tracking.things index: by_version dup key: { version: 1 }',
};

describe('combined replacements', () => {
  let stub: MongoStub;
  let connection: MongoConnection;
  let updates = 0;
  let finds = 0;

  /**
   * Replaces three documents on a server that gives this reply to the combined write, and then has these versions of the
   * documents.
   */
  async function replaceThree(reply: object, versions: Readonly<Record<string, number>>) {
    updates = 0;
    finds = 0;
    stub = await MongoStub.startMongoStub((command) => {
      const name = readMongoCommandName(command);
      if (name === 'update') {
        updates += 1;
        return updates === 1
          ? { ok: 1, nModified: 0, ...reply }
          : { ok: 1, n: 0, writeErrors: [{ index: 0, ...DUPLICATE }] };
      }
      if (name !== 'find') return undefined;
      const { _id } = command['filter'] as { readonly _id: string };
      finds += 1;
      return createCursorReply({ _id, version: versions[_id] });
    });
    connection = new MongoConnection({ url: stub.formatUrl(), metrics: noMetrics, deadlineMs: 1_000 });
    const things = new MongoCollection<Thing>(SPEC, connection);
    const replaced = ['a', 'b', 'c'].map((id) => things.replace({ id, version: 1 }, { version: 0 }));
    const results = await Promise.allSettled(replaced);
    return results.map((result) => (result.status === 'fulfilled' ? result.value : (result.reason as Error)));
  }

  afterEach(async () => {
    await connection.closeConnection();
    await stub.closeMongoStub();
  });

  it('are one request whose count shows that all were performed', async () => {
    expect(await replaceThree({ n: 3 }, {})).toEqual([true, true, true]);
    expect({ updates, finds }).toEqual({ updates: 1, finds: 0 });
  });

  it('are identified by the stored documents if some were refused', async () => {
    expect(await replaceThree({ n: 2 }, { a: 1, b: 4, c: 1 })).toEqual([true, false, true]);
  });

  it('have an unknown outcome if a replaced document may have changed since', async () => {
    const unknown = new Unavailable('document store', 'the outcome of a combined write is unknown');
    expect(await replaceThree({ n: 2 }, { a: 1, b: 4, c: 5 })).toEqual([true, unknown, unknown]);
  });

  it('are not acknowledged if a majority did not confirm them', async () => {
    const reply = { n: 3, writeConcernError: { code: 64, codeName: 'WriteConcernTimeout', errmsg: 'timeout' } };
    for (const result of await replaceThree(reply, { a: 1, b: 1, c: 1 })) expect(result).toBeInstanceOf(Unavailable);
  });

  it('are sent again alone if the server reported an error, which names the index', async () => {
    const reply = { n: 2, writeErrors: [{ index: 1, ...DUPLICATE }] };
    const refusal = new DuplicateKey('things', 'by_version');
    expect(await replaceThree(reply, { a: 1, b: 0, c: 1 })).toEqual([true, refusal, true]);
  });
});
