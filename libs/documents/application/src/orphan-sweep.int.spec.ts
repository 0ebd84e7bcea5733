import { writeFile } from 'node:fs/promises';
import type { EmbeddedSqliteEngine } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import { type ObjectStore, UnavailableError } from '@tracking/ports';
import { eventually, type LogLine, RecordedMetrics, createRecordingLogger, createTempFolder } from '@tracking/testing';
import { createDocumentObjectIdForTest, createShipmentId, TestObjectStore } from '../test/objects.ts';
import { OrphanSweep, type OrphanSweepDependencies } from './index.ts';

const HOUR_MS = 3_600_000;
const START = Date.parse('2026-03-10T12:00:00.000Z');
const ahead = (hours: number) => new Date(START + hours * HOUR_MS);

let folder: Awaited<ReturnType<typeof createTempFolder>>;
let engine: EmbeddedSqliteEngine;
let objects: TestObjectStore;
let metrics: RecordedMetrics;
let log: LogLine[];
let now: Date;
/** Objects that documents need, by shipment, and the shipments that were asked. */
let needed: Map<string, readonly string[]>;
let asked: string[];
let askedFor: string[];
let running: OrphanSweep[];

beforeEach(async () => {
  folder = await createTempFolder();
  engine = await openTestEngine(folder.path);
  objects = await TestObjectStore.openTestObjectStore(folder.path);
  metrics = new RecordedMetrics();
  [log, needed, asked, askedFor, running, now] = [[], new Map(), [], [], [], ahead(0)];
});
afterEach(async () => {
  await Promise.all(running.map((sweep) => sweep.job.stopJobRounds()));
  await engine.closeEngine();
  await folder.remove();
});

async function neededObjects(shipmentId: string, at: string): Promise<readonly string[]> {
  asked.push(shipmentId);
  askedFor.push(at);
  return needed.get(shipmentId) ?? [];
}

function start(more: Partial<OrphanSweepDependencies> = {}): OrphanSweep {
  const sweep = new OrphanSweep({
    objects: objects.store,
    documentStore: engine.documentStore,
    neededObjects,
    leases: engine.leases,
    clock: () => now,
    logger: createRecordingLogger(log),
    metrics,
    everyMs: 10,
    patienceMs: 0,
    ...more,
  });
  running.push(sweep);
  sweep.job.startJobRounds();
  return sweep;
}

const becomes = (...names: readonly string[]) =>
  eventually(async () => expect(await objects.listObjectFileNames()).toEqual([...names].sort()));
const place = async () => {
  const places = await engine.documentStore.collection<{ id: string; place: { before: string } }>({
    name: 'document_jobs',
    indexes: [],
  });
  return (await places.get('orphans'))?.place.before;
};
const isSweptUpTo = (before: Date) => eventually(async () => expect(await place()).toBe(before.toISOString()));
const swept = (outcome: string) => metrics.getMetricValue(`document_objects_swept_total{outcome="${outcome}"}`);

describe('the sweep of orphans', () => {
  it('deletes unneeded objects after two days', async () => {
    const kept = await objects.putObject(createDocumentObjectIdForTest('a', 'needed'), ahead(-49));
    const young = await objects.putObject(createDocumentObjectIdForTest('a', 'young'), ahead(-47));
    await objects.putObject(createDocumentObjectIdForTest('a', 'orphan'), ahead(-49));
    await objects.putObject(createDocumentObjectIdForTest('b', 'orphan'), ahead(-500));
    needed.set(createShipmentId('a'), [kept, young]);
    start();
    await becomes(kept, young);
    await isSweptUpTo(ahead(-48));
    expect([swept('deleted'), swept('kept')]).toEqual([2, 1]);
    expect(asked.sort()).toEqual([createShipmentId('a'), createShipmentId('b')]);
    expect(new Set(askedFor)).toEqual(new Set([ahead(0).toISOString()]));
  });

  it('ignores objects that do not belong to documents', async () => {
    const other = await objects.putObject('another-thing', ahead(-49));
    const orphan = await objects.putObject(createDocumentObjectIdForTest('a', 'orphan'), ahead(-49));
    start();
    await becomes(other);
    expect(asked).toEqual([createShipmentId('a')]);
    expect(orphan).toContain(asked[0]?.slice(4));
  });

  it('checks each object once, whichever process does it', async () => {
    const kept = await objects.putObject(createDocumentObjectIdForTest('a', 'needed'), ahead(-49));
    needed.set(createShipmentId('a'), [kept]);
    const first = start();
    await isSweptUpTo(ahead(-48));
    await first.job.stopJobRounds();

    await objects.putObject(createDocumentObjectIdForTest('b', 'later'), ahead(-47.5));
    now = ahead(8);
    start();
    await becomes(kept);
    await isSweptUpTo(ahead(-40));
    expect(asked).toEqual([createShipmentId('a'), createShipmentId('b')]);
  });

  it('checks a long period in steps of a day, and no period shorter than six hours', async () => {
    const periods: (readonly (number | undefined)[])[] = [];
    const listObjectIdsStoredInPeriod: ObjectStore['listObjectIdsStoredInPeriod'] = (period) => {
      const hours = [period.from, period.before].map((at) => at && (at.getTime() - START) / HOUR_MS);
      periods.push(hours);
      return objects.store.listObjectIdsStoredInPeriod(period);
    };
    const watched = { ...pick(objects.store), listObjectIdsStoredInPeriod };
    const first = start({ objects: watched });
    await isSweptUpTo(ahead(-48));
    await first.job.stopJobRounds();
    expect(periods).toEqual([[undefined, -48]]);

    now = ahead(60);
    const second = start({ objects: watched });
    await isSweptUpTo(ahead(12));
    await second.job.stopJobRounds();
    expect(periods.slice(1)).toEqual([
      [-48, -24],
      [-24, 0],
      [0, 12],
    ]);

    now = ahead(65.9);
    start({ objects: watched });
    now = ahead(66);
    await isSweptUpTo(ahead(18));
    expect(periods.slice(4)).toEqual([[12, 18]]);
  });

  it('asks a shipment with many objects once per hundred objects, and finds them all', async () => {
    const ids = Array.from({ length: 250 }, (_, n) =>
      createDocumentObjectIdForTest('a', `n${String(n).replaceAll(/\d/g, digitLetter)}`),
    );
    for (const id of ids) await objects.putObject(id, ahead(-49));
    const kept = ids.filter((_, n) => n % 3 === 0);
    needed.set(createShipmentId('a'), kept);
    start();
    await becomes(...kept);
    expect(asked.length).toBe(3);
  });

  it('removes unfinished uploads, but none that may be in progress', async () => {
    for (const name of ['old.part', 'new.part']) await writeFile(objects.getStoredFilePath(name), 'x');
    await objects.setStoredFileTime('old.part', ahead(-25));
    await objects.setStoredFileTime('new.part', ahead(-23));
    start();
    await becomes('new.part');
  });

  it('repeats a step that an engine failure interrupted, and loses none of it', async () => {
    const ids = ['a', 'b', 'c', 'd'].map((letter) => createDocumentObjectIdForTest(letter, 'orphan'));
    for (const id of ids) await objects.putObject(id, ahead(-49));
    let failures = 2;
    const failing: OrphanSweepDependencies['neededObjects'] = async (shipmentId, at) => {
      if (asked.length === 2 && failures > 0) {
        failures -= 1;
        expect(await place()).toBeUndefined();
        throw new UnavailableError('shipments', 'away');
      }
      return neededObjects(shipmentId, at);
    };
    start({ neededObjects: failing });
    await becomes();
    await isSweptUpTo(ahead(-48));
    expect(metrics.getMetricValue('retries_total{what="sweeping objects without a reference"}')).toBe(2);
    expect(swept('deleted')).toBe(4);
  });

  it('deletes nothing if the needed objects cannot be determined', async () => {
    const kept = await objects.putObject(createDocumentObjectIdForTest('a', 'unknown'), ahead(-49));
    await objects.putObject(createDocumentObjectIdForTest('b', 'orphan'), ahead(-49));
    start({
      neededObjects: async (shipmentId, at) => {
        if (shipmentId === createShipmentId('a')) throw new TypeError('cannot be folded');
        return neededObjects(shipmentId, at);
      },
    });
    await isSweptUpTo(ahead(-48));
    await becomes(kept);
    const errors = log.filter(({ level }) => level === 'error');
    expect(errors.map(({ fields }) => fields['shipment_id'])).toEqual([createShipmentId('a')]);
  });

  it('continues after a stop halfway', async () => {
    for (const letter of 'abcdef') await objects.putObject(createDocumentObjectIdForTest(letter, 'orphan'), ahead(-49));
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const first = start({
      neededObjects: async (shipmentId, at) => {
        if (asked.length === 3) {
          reached.resolve();
          await gate.promise;
        }
        return neededObjects(shipmentId, at);
      },
    });
    await reached.promise;
    const stopped = first.job.stopJobRounds();
    gate.resolve();
    await stopped;
    expect(await place()).toBeUndefined();
    expect((await objects.listObjectFileNames()).length).toBeGreaterThan(0);
    start();
    await becomes();
    await isSweptUpTo(ahead(-48));
  });

  it('recovers from a clock that was ahead', async () => {
    now = ahead(24 * 365);
    const first = start();
    await isSweptUpTo(new Date(now.getTime() - 48 * HOUR_MS));
    await first.job.stopJobRounds();
    now = ahead(0);
    await objects.putObject(createDocumentObjectIdForTest('a', 'orphan'), ahead(-48.5));
    start();
    await becomes();
    await isSweptUpTo(ahead(-48));
  });
});

const digitLetter = (digit: string) => 'abcdefghij'.charAt(Number(digit));
const pick = (store: ObjectStore): OrphanSweepDependencies['objects'] => ({
  listObjectIdsStoredInPeriod: (period) => store.listObjectIdsStoredInPeriod(period),
  deleteObject: (id) => store.deleteObject(id),
  removeUnfinishedObjects: (before) => store.removeUnfinishedObjects(before),
});
