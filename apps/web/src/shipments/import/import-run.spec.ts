import { ConnectionError, RateLimitError } from '@tracking/client';
import { ImportBatchSender } from './import-run.ts';
import {
  type ImportRecord,
  type ShipmentImportItemWithCells,
  splitImportIntoBatches,
  buildInvalidRowsTable,
} from './import-store.ts';

const ROWS = 250;
const SHEET = {
  name: 'orders.csv',
  headers: ['Ref'],
  rows: Array.from({ length: ROWS + 1 }, (_, index) => [`PO-${index}`]),
  firstRow: 2,
};
const WHOSE = { id: 'i1', owner: 'ann', environment: 'live', startedAt: '2026-11-23T09:00:00Z' } as const;

function planned() {
  const items = SHEET.rows
    .slice(0, ROWS)
    .map(([external_id = ''], index) => ({ rows: [index + 2], body: { external_id } }));
  const errors = [{ row: ROWS + 2, column: 'Ref', value: 'x', message: 'is wrong' }];
  return splitImportIntoBatches(SHEET, { items, errors }, WHOSE);
}

/** Returns an import store that keeps its data in memory. */
function storeOf({ record, batches }: ReturnType<typeof planned>) {
  const kept: { record: ImportRecord | undefined; batches: (readonly ShipmentImportItemWithCells[] | undefined)[] } = {
    record,
    batches: [...batches],
  };
  return {
    kept,
    getImport: async () => kept.record,
    readImportBatchItems: async (_id: string, index: number) => kept.batches[index],
    storeImportProgress: async (after: ImportRecord, index: number) => {
      if (kept.record?.done === index) kept.record = after;
      return kept.record;
    },
  };
}

/**
 * Returns a service that applies a batch once per idempotency key. If `failures` contains an error for a call, the
 * service applies the batch and throws the error instead of responding.
 */
function service(failures: readonly (Error | undefined)[] = []) {
  const byKey = new Map<string, object>();
  const calls: string[] = [];
  const upsertMany = async (bodies: readonly ShipmentImportItemWithCells['body'][], { idempotencyKey = '' }) => {
    const failure = failures[calls.length];
    calls.push(idempotencyKey);
    const isNew = !byKey.has(idempotencyKey);
    if (isNew)
      byKey.set(idempotencyKey, { data: bodies.map((body, index) => answerTo(body.external_id ?? '', index)) });
    if (failure !== undefined) throw failure;
    return byKey.get(idempotencyKey);
  };
  return { calls, byKey, api: { shipments: { upsertMany } } as never, sender: async () => WHOSE.owner };
}

function answerTo(external_id: string, index: number) {
  if (external_id !== 'PO-7') return { index, status: 201, shipment: { warnings: [] } };
  const details = [{ param: 'house_bill', code: 'too_long', message: 'Is too long.' }];
  return { index, status: 400, error: { message: 'It is wrong.', details } };
}

const lostAnswer = () => new ConnectionError('It broke.', { outcomeUnknown: true });

describe('an import', () => {
  it('sends batch by batch and reports rejected rows', async () => {
    const [store, { api, sender, calls }] = [storeOf(planned()), service()];
    const run = new ImportBatchSender(planned().record, { api, sender, store, wait: async () => undefined });
    await run.runImportUntilDone();
    expect(run.state().phase).toBe('done');
    expect(calls).toEqual(['import-i1-0', 'import-i1-1', 'import-i1-2']);
    expect(store.kept.record).toMatchObject({ sent: 250, created: 249, changed: 0, done: 3 });
    expect(buildInvalidRowsTable(store.kept.record as ImportRecord)).toEqual({
      headers: ['Ref', 'Row', 'Error'],
      rows: [
        ['PO-7', '9', 'House bill Is too long.'],
        ['PO-250', '252', 'Ref “x” is wrong'],
      ],
    });
  });

  it('waits if necessary and repeats a batch with the same idempotency key', async () => {
    const headers = { 'retry-after': '7' };
    const tooMany = new RateLimitError({ status: 429, headers, error: {} });
    const [store, { api, sender, calls, byKey }] = [storeOf(planned()), service([undefined, lostAnswer(), tooMany])];
    const waits: number[] = [];
    const run = new ImportBatchSender(planned().record, {
      api,
      sender,
      store,
      wait: async (seconds) => void waits.push(seconds),
    });
    await run.runImportUntilDone();
    expect(calls).toEqual([...['import-i1-0', 'import-i1-1', 'import-i1-1'], ...['import-i1-1', 'import-i1-2']]);
    expect(waits).toEqual([3, 7]);
    expect(byKey.size).toBe(3);
    expect(store.kept.record).toMatchObject({ created: 249, done: 3 });
  });

  it('continues with the first batch that has no recorded result', async () => {
    const [store, there] = [storeOf(planned()), service([undefined, lostAnswer()])];
    const first: ImportBatchSender = new ImportBatchSender(planned().record, {
      ...there,
      store,
      wait: async () => first.stop(),
    });
    await first.runImportUntilDone();
    expect(first.state().phase).toBe('stopped');
    expect(store.kept.record).toMatchObject({ done: 1, sent: 100 });
    const second = new ImportBatchSender(planned().record, { ...there, store, wait: async () => undefined });
    await second.runImportUntilDone();
    expect(there.calls).toEqual([...['import-i1-0', 'import-i1-1'], ...['import-i1-1', 'import-i1-2']]);
    expect(store.kept.record).toMatchObject({ sent: 250, created: 249 });
  });

  it.each([
    { what: 'it is removed', change: () => ({ record: undefined, batches: [] }), why: 'cancelled in another tab' },
    { what: 'a batch is gone', change: (kept: object) => ({ ...kept, batches: [] }), why: 'Choose the file again' },
  ])('stops when $what during a request, and sends nothing afterwards', async ({ change, why }) => {
    const [store, { api, calls }] = [storeOf(planned()), service()];
    const sender = async () => {
      if (calls.length === 1) Object.assign(store.kept, change(store.kept));
      return WHOSE.owner;
    };
    const run = new ImportBatchSender(planned().record, { api, sender, store, wait: async () => undefined });
    await run.runImportUntilDone();
    expect(run.state()).toMatchObject({ phase: 'stopped', isLost: true, why: expect.stringContaining(why) });
    expect(calls).toHaveLength(2);
    expect(run.state().record.sent).toBeLessThan(ROWS);
  });

  it('counts a batch once if another tab has recorded it', async () => {
    const [store, there] = [storeOf(planned()), service()];
    const parts = { ...there, store, wait: async () => undefined };
    const other = new ImportBatchSender(planned().record, parts);
    const sender = async () => {
      if (there.calls.length === 1) await other.runImportUntilDone();
      return WHOSE.owner;
    };
    const run = new ImportBatchSender(planned().record, { ...parts, sender });
    await run.runImportUntilDone();
    expect(run.state()).toMatchObject({ phase: 'done', record: { sent: 250, created: 249, done: 3 } });
  });

  it('sends nothing after another user has signed in', async () => {
    const [store, { api, calls }] = [storeOf(planned()), service()];
    const sender = async () => (calls.length < 2 ? WHOSE.owner : 'bob');
    const run = new ImportBatchSender(planned().record, { api, sender, store, wait: async () => undefined });
    await run.runImportUntilDone();
    expect(run.state()).toMatchObject({ phase: 'stopped', why: expect.stringContaining('Another user') });
    expect(calls).toHaveLength(2);
    expect(store.kept.record).toMatchObject({ done: 2 });
  });
});
