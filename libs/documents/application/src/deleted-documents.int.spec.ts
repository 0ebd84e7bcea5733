import type { EmbeddedSqliteEngine } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import { UnavailableError } from '@tracking/ports';
import { eventually, RecordedMetrics, silentLogger, createTempFolder } from '@tracking/testing';
import { createDocumentObjectIdForTest, TestObjectStore } from '../test/objects.ts';
import {
  type DeletedDocument,
  DeletedDocumentSweeper,
  type DeletedDocumentSweeperDependencies,
  type DeletedDocumentPosition,
} from './index.ts';

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
const START = Date.parse('2026-03-10T12:00:00.000Z');
const at = (ms: number) => new Date(START + ms).toISOString();

let folder: Awaited<ReturnType<typeof createTempFolder>>;
let engine: EmbeddedSqliteEngine;
let objects: TestObjectStore;
let metrics: RecordedMetrics;
let now: Date;
let rows: DeletedDocument[];
let places: (DeletedDocumentPosition | undefined)[];
let running: DeletedDocumentSweeper[];

beforeEach(async () => {
  folder = await createTempFolder();
  engine = await openTestEngine(folder.path);
  objects = await TestObjectStore.openTestObjectStore(folder.path);
  metrics = new RecordedMetrics();
  [rows, places, running, now] = [[], [], [], new Date(START)];
});
afterEach(async () => {
  await Promise.all(running.map(({ job }) => job.stopJobRounds()));
  await engine.closeEngine();
  await folder.remove();
});

/** Rows as the read model returns them. */
async function deletedSince(place: DeletedDocumentPosition | undefined, limit: number) {
  places.push(place);
  const key = ({ deleted_at, id }: DeletedDocumentPosition) => `${deleted_at} ${id}`;
  const behind = rows.filter((row) => place === undefined || key(row) > key(place));
  return behind.sort((a, b) => (key(a) < key(b) ? -1 : 1)).slice(0, limit);
}

function start(more: Partial<DeletedDocumentSweeperDependencies> = {}): DeletedDocumentSweeper {
  const deleted = new DeletedDocumentSweeper({
    objects: objects.store,
    documentStore: engine.documentStore,
    deletedSince,
    leases: engine.leases,
    clock: () => now,
    logger: silentLogger,
    metrics,
    everyMs: 10,
    patienceMs: 0,
    ...more,
  });
  running.push(deleted);
  deleted.job.startJobRounds();
  return deleted;
}

const lettered = (n: number) =>
  String(n)
    .padStart(4, '0')
    .replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)));
/** A deleted document whose bytes still exist. */
async function deleted(name: string, deleted_at: string): Promise<DeletedDocument> {
  const object_id = await objects.putObject(createDocumentObjectIdForTest('a', name), now);
  const row = { id: `doc_${name}`, deleted_at, object_id };
  rows.push(row);
  return row;
}
const deletedMany = (count: number, deletedAt: (n: number) => string) =>
  Promise.all(Array.from({ length: count }, (_, n) => deleted(lettered(n), deletedAt(n))));
const becomes = (...names: readonly (string | null)[]) =>
  eventually(async () => expect(await objects.listObjectFileNames()).toEqual(names.toSorted()));
const destroyed = () => metrics.getMetricValue('document_objects_destroyed_total');

describe('bytes of deleted documents', () => {
  it('are destroyed a minute later if that did not happen immediately', async () => {
    await deleted('left', at(-61 * SECOND_MS));
    rows.push({
      id: 'doc_gone',
      deleted_at: at(-90 * SECOND_MS),
      object_id: createDocumentObjectIdForTest('a', 'gone'),
    });
    rows.push({ id: 'doc_without', deleted_at: at(-90 * SECOND_MS), object_id: null });
    const inHand = await deleted('hand', at(-59 * SECOND_MS));
    const wanted = await objects.putObject(createDocumentObjectIdForTest('a', 'wanted'), now);
    start();
    await becomes(inHand.object_id, wanted);
    await eventually(() => expect(destroyed()).toBe(1));
    now = new Date(START + 2 * SECOND_MS);
    await becomes(wanted);
    await eventually(() => expect(destroyed()).toBe(2));
  });

  it('are found page by page, and only once', async () => {
    await deletedMany(250, (n) => at(-100 * SECOND_MS - (n % 7)));
    const first = start();
    await becomes();
    await eventually(() => expect(destroyed()).toBe(250));
    await first.job.stopJobRounds();

    const last = await deletedSince(undefined, 1_000).then((all) => all.at(-1)!);
    places = [];
    const next = await deleted('next', at(-80 * SECOND_MS));
    start();
    await becomes();
    expect(places[0]).toEqual({ deleted_at: last.deleted_at, id: last.id });
    await eventually(() => expect(places.at(-2)).toEqual({ deleted_at: next.deleted_at, id: next.id }));
  });

  it('are found a week later if their row appeared late', async () => {
    await deleted('first', at(-100 * SECOND_MS));
    start();
    await becomes();
    const late = await deleted('late', at(-200 * SECOND_MS));
    const round = places.length;
    await eventually(() => expect(places.length).toBeGreaterThan(round + 4));
    await becomes(late.object_id);
    now = new Date(START + 7 * DAY_MS);
    await becomes();
  });

  it.each<[string, () => Partial<DeletedDocumentSweeperDependencies>]>([
    ['the read model', () => ({ deletedSince: failingAt(2, deletedSince) })],
    ['the object store', () => ({ objects: failingObjects() })],
  ])('are destroyed even if %s fails halfway', async (_name, failing) => {
    await deletedMany(150, () => at(-100 * SECOND_MS));
    start(failing());
    await becomes();
    await eventually(() => expect(destroyed()).toBe(150));
    expect(metrics.getMetricValue('retries_total{what="destroying bytes of deleted documents"}')).toBe(1);
  });
});

function failingAt<A extends readonly unknown[], T>(nth: number, action: (...args: A) => Promise<T>) {
  let calls = 0;
  return async (...args: A): Promise<T> => {
    calls += 1;
    if (calls === nth) throw new UnavailableError('an engine', 'away');
    return action(...args);
  };
}

const failingObjects = (): DeletedDocumentSweeperDependencies['objects'] => ({
  getObject: (id) => objects.store.getObject(id),
  deleteObject: failingAt(120, (id: string) => objects.store.deleteObject(id)),
});
