import { createFixedRowSource } from '../test/listed-shipments.ts';
import {
  ACME_LIVE_SCOPE,
  ACME_TEST_SCOPE,
  createSampleDocumentRecord,
  OTHER_WORKSPACE,
  createNthTestShipmentToken,
} from '../test/shipment-events.ts';
import { waitUntilCaughtUp, expectEqualToRebuild, ReadModelsTestBed } from '../test/world.ts';
import {
  type DeletedDocument,
  type DocumentListQuery,
  DocumentQueries,
  type DocumentReadModelRow,
  documentsReadModel,
} from './documents.ts';
import { createRowsCollectionSpec, type SortValues } from './read-model.ts';
import type { ReadModels } from './read-models.ts';

const at = (minute: number) => `2026-03-02T08:${String(minute).padStart(2, '0')}:00.000Z`;
const id = (n: number, letter: string) => `doc_${createNthTestShipmentToken(n)}${letter}`;

describe('queries of documents', () => {
  let world: ReadModelsTestBed;
  let models: ReadModels;
  let n = 0;
  beforeAll(async () => {
    world = await ReadModelsTestBed.open();
    models = await world.startReadModels();
    await models.ready;
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    n += 1;
    await world.writer.createShipment(n);
  });

  const add = (letter: string, fields = {}) =>
    world.writer.writeDocumentEvent(n, createSampleDocumentRecord(n, letter, fields), `o-${n}-${letter}`);

  async function list(query: Partial<DocumentListQuery> = {}): Promise<string[][]> {
    await waitUntilCaughtUp(models);
    const all: string[][] = [];
    for (let after: SortValues | undefined; ;) {
      const page = await models.queries.documents.listDocuments(
        ACME_LIVE_SCOPE,
        `shp_${createNthTestShipmentToken(n)}`,
        {
          limit: 100,
          ...query,
          after,
        },
      );
      all.push(page.items.map((document) => document.id.slice(-1)));
      if (!page.next) return all;
      // Query in the form that the HTTP edge passes.
      after = JSON.parse(JSON.stringify(page.next)) as SortValues;
    }
  }

  it('return the newest first, and order equal times by id, page by page', async () => {
    await add('c', { created_at: at(1) });
    await add('a', { created_at: at(3) });
    await add('e', { created_at: at(2) });
    await add('b', { created_at: at(2) });
    await add('d', { created_at: at(2) });
    const expected = ['a', 'e', 'd', 'b', 'c'];
    expect(await list()).toEqual([expected]);
    expect(await list({ limit: 2 })).toEqual([['a', 'e'], ['d', 'b'], ['c']]);
    expect(await list({ limit: 1 })).toEqual(expected.map((each) => [each]));
  });

  it('return only the requested statuses and types', async () => {
    await add('a', { created_at: at(1), status: 'approved' });
    await add('b', { created_at: at(2), status: 'rejected', type: 'photo' });
    await add('c', { created_at: at(3), status: 'deleted', type: 'photo' });
    await add('d', { created_at: at(4), type: 'other' });
    expect(await list()).toEqual([['d', 'c', 'b', 'a']]);
    expect(await list({ statuses: ['approved', 'rejected'] })).toEqual([['b', 'a']]);
    expect(await list({ types: ['photo', 'other'], limit: 2 })).toEqual([['d', 'c'], ['b']]);
    expect(await list({ statuses: ['deleted', 'uploaded'], types: ['photo'] })).toEqual([['c']]);
    expect(await list({ statuses: ['expired'] })).toEqual([[]]);
  });

  it('return changed documents in their original position', async () => {
    await add('a', { created_at: at(1) });
    await add('b', { created_at: at(2) });
    await add('a', { created_at: at(1), status: 'rejected', rejection_reason: 'blurred' });
    await waitUntilCaughtUp(models);
    const { items } = await models.queries.documents.listDocuments(
      ACME_LIVE_SCOPE,
      `shp_${createNthTestShipmentToken(n)}`,
      {
        limit: 10,
      },
    );
    const rejected = createSampleDocumentRecord(n, 'a', {
      created_at: at(1),
      status: 'rejected',
      rejection_reason: 'blurred',
    });
    expect(items).toEqual([createSampleDocumentRecord(n, 'b', { created_at: at(2) }), rejected]);
  });

  it('return one document with its object and shipment version, only in its own scope', async () => {
    await add('a');
    await waitUntilCaughtUp(models);
    const { documents } = models.queries;
    const found = { document: createSampleDocumentRecord(n, 'a'), object_id: `o-${n}-a`, shipment_version: 2 };
    expect(await documents.getDocument(ACME_LIVE_SCOPE, id(n, 'a'))).toEqual(found);
    expect(await documents.getDocument(ACME_TEST_SCOPE, id(n, 'a'))).toBeUndefined();
    expect(await documents.getDocument(OTHER_WORKSPACE, id(n, 'a'))).toBeUndefined();
    expect(await documents.getDocument(ACME_LIVE_SCOPE, id(n, 'b'))).toBeUndefined();
  });

  it('return nothing of another scope', async () => {
    await add('a');
    expect(await list()).toEqual([['a']]);
    const nothing = { items: [], next: undefined };
    for (const scope of [ACME_TEST_SCOPE, OTHER_WORKSPACE]) {
      expect(
        await models.queries.documents.listDocuments(scope, `shp_${createNthTestShipmentToken(n)}`, { limit: 10 }),
      ).toEqual(nothing);
    }
    expect(
      await models.queries.documents.listDocuments(ACME_LIVE_SCOPE, `shp_${createNthTestShipmentToken(n + 1_000)}`, {
        limit: 10,
      }),
    ).toEqual(nothing);
  });
});

describe('deleted documents', () => {
  let world: ReadModelsTestBed;
  let models: ReadModels;
  beforeAll(async () => {
    world = await ReadModelsTestBed.open();
    models = await world.startReadModels();
    await models.ready;
  });
  afterAll(() => world.close());

  it('of all scopes are listed in deletion order, page by page, if they have bytes', async () => {
    const expected: DeletedDocument[] = [];
    for (const [n, scope] of [
      ACME_LIVE_SCOPE,
      ACME_TEST_SCOPE,
      OTHER_WORKSPACE,
      ACME_LIVE_SCOPE,
      ACME_LIVE_SCOPE,
    ].entries()) {
      await world.writer.createShipment(n, {}, scope);
      await world.writer.writeDocumentEvent(n, createSampleDocumentRecord(n, 'a'), `o-${n}`, at(0));
      await world.writer.writeDocumentEvent(n, createSampleDocumentRecord(n, 'b'), `o-${n}-stays`, at(0));
      const deleted_at = n < 3 ? at(20) : at(25 - n);
      await world.writer.writeDocumentEvent(
        n,
        createSampleDocumentRecord(n, 'a', { status: 'deleted' }),
        `o-${n}`,
        deleted_at,
      );
      await world.writer.writeDocumentEvent(n, createSampleDocumentRecord(n, 'c', { status: 'deleted' }), null, at(20));
      expected.push({ id: id(n, 'a'), object_id: `o-${n}`, deleted_at });
    }
    expected.sort((one, other) => (one.deleted_at + one.id < other.deleted_at + other.id ? -1 : 1));
    await waitUntilCaughtUp(models);
    const { documents } = models.queries;
    expect(await documents.listDocumentsDeletedSince(undefined, 10)).toEqual(expected);
    const found: DeletedDocument[] = [];
    for (let place: DeletedDocument | undefined; ;) {
      const page = await documents.listDocumentsDeletedSince(place, 2);
      if (page.length === 0) break;
      found.push(...page);
      place = page.at(-1);
    }
    expect(found).toEqual(expected);
    // A cursor that matches no document.
    const since = expected.filter(({ deleted_at }) => deleted_at >= at(22));
    expect(since).toHaveLength(1);
    expect(await documents.listDocumentsDeletedSince({ deleted_at: at(22), id: '' }, 10)).toEqual(since);
    await expectEqualToRebuild(models);
  });
});

describe('storage of a workspace', () => {
  it('adds up documents of both environments, exactly after a rebuild and for rows of the former version', async () => {
    const world = await ReadModelsTestBed.open();
    const models = await world.startReadModels();
    await models.ready;
    const scopes = [ACME_LIVE_SCOPE, ACME_TEST_SCOPE, OTHER_WORKSPACE];
    for (const [n, scope] of scopes.entries()) {
      await world.writer.createShipment(n, {}, scope);
      await world.writer.writeDocumentEvent(n, createSampleDocumentRecord(n, 'a', { size_bytes: 10 ** n }), `o-${n}`);
      await world.writer.writeDocumentEvent(
        n,
        createSampleDocumentRecord(n, 'b', { size_bytes: 500, status: 'pending_upload' }),
        null,
      );
      await world.writer.writeDocumentEvent(n, createSampleDocumentRecord(n, 'c', { size_bytes: 7 }), `c-${n}`);
      await world.writer.writeDocumentEvent(
        n,
        createSampleDocumentRecord(n, 'c', { size_bytes: 7, status: 'deleted' }),
        `c-${n}`,
      );
      await world.writer.writeDocumentEvent(
        n,
        createSampleDocumentRecord(n, 'd', { size_bytes: 3, status: 'expired' }),
        null,
      );
    }
    await waitUntilCaughtUp(models);
    const sums = () =>
      Promise.all(
        [ACME_LIVE_SCOPE, OTHER_WORKSPACE].map((each) =>
          models.queries.documents.sumDocumentBytesOfWorkspace(each.workspace_id),
        ),
      );
    expect(await sums()).toEqual([1_011, 600]);
    await expectEqualToRebuild(models);
    expect(await sums()).toEqual([1_011, 600]);

    const rows = await world.engine.documentStore.collection<DocumentReadModelRow>(
      createRowsCollectionSpec(documentsReadModel, 2),
    );
    const former = createFixedRowSource(rows, 1);
    expect(await new DocumentQueries(former).sumDocumentBytesOfWorkspace(ACME_LIVE_SCOPE.workspace_id)).toBe(1_011);
    await world.close();
  });
});
