import { jest } from '@jest/globals';
import type { EmbeddedSqliteEngine } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import type { CollectionSpec, Lease, Query } from '@tracking/ports';
import { type TempFolder, eventually, silentLogger, createTempFolder } from '@tracking/testing';
import { createDelivery, computeShardOfEndpoint } from '@tracking/webhooks-domain';
import { convertHoursToCounts, computeHourCountsFromStoredLog } from '../../test/counted-log.ts';
import { SAMPLE_SCOPE } from '../../test/webhooks-test-harness.ts';
import {
  ATTEMPTS_COLLECTION_SPEC,
  type AttemptDocument,
  DELIVERIES_COLLECTION_SPEC,
  type DeliveryDocument,
  convertToDeliveryDocument,
} from '../store/delivery-document.ts';
import {
  RETENTION_WATERMARK_COLLECTION_SPEC,
  RetentionWatermarkStore,
  type RetentionWatermarkDocument,
} from '../store/delivery-queries.ts';
import { HOUR_RECOUNTS_COLLECTION_SPEC } from './hour-log.ts';
import { type EndpointStatisticsServices, openEndpointStatistics } from './statistics.ts';

const ENDPOINT = 'whe_one';
const HOUR = '2026-11-23T14:00:00.000Z';
const EARLIER_HOUR = '2026-11-23T13:00:00.000Z';
const AT = '2026-11-23T14:20:00.000Z';

describe('the statistics keeper', () => {
  let folder: TempFolder;
  let engine: EmbeddedSqliteEngine;
  let running: EndpointStatisticsServices[];
  /** Resolves when the log may be read by owners with a slow log. */
  let mayRead: PromiseWithResolvers<void>;
  beforeEach(async () => {
    folder = await createTempFolder();
    engine = await openTestEngine(folder.path);
    running = [];
    mayRead = Promise.withResolvers();
  });
  afterEach(async () => {
    mayRead.resolve();
    for (const { keeper } of running) await keeper.writeOpenStatsHours();
    await engine.closeEngine();
    await folder.remove();
  });

  const lease = (epoch: number): Lease => ({
    name: 'shard',
    epoch,
    lost: new AbortController().signal,
    handOverRequested: new AbortController().signal,
    isLeaseHeld: () => true,
    releaseLease: () => Promise.resolve(),
  });
  const owner = async (owned: Lease, store = engine.documentStore): Promise<EndpointStatisticsServices> => {
    const [deliveries, attempts, watermark] = await Promise.all([
      store.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC),
      store.collection<AttemptDocument>(ATTEMPTS_COLLECTION_SPEC),
      store.collection<RetentionWatermarkDocument>(RETENTION_WATERMARK_COLLECTION_SPEC),
    ]);
    const opened = await openEndpointStatistics({
      ...{ store, deliveries, attempts, watermark: new RetentionWatermarkStore(watermark) },
      shards: { leases: new Map([[computeShardOfEndpoint(ENDPOINT), owned]]) },
      clock: () => new Date(AT),
      endpoints: { getEndpoint: () => Promise.resolve(SAMPLE_SCOPE) },
      logger: silentLogger,
      countRetry: () => undefined,
      ...{ writeMs: 5, idleMs: 60_000, settleMs: 10 },
    });
    opened.keeper.startStatsRounds();
    running.push(opened);
    return opened;
  };
  const attempt = { number: 1, at: AT, duration_ms: 3, status_code: 200, error: null, response: null, manual: false };
  /** As the outcome of an attempt leaves the delivery. */
  const store = async (id: string) => {
    const about = { workspace_id: 'wsp_one', environment: 'live', endpoint_id: ENDPOINT, payload_id: 'p' } as const;
    const event = { event_id: `evt_${id}`, event_type: 'shipment.created', event_created_at: AT, sandbox: false };
    const deliveries = await engine.documentStore.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC);
    const done = { status: 'succeeded', attempts_count: 1, last_attempt_at: AT, completed_at: AT } as const;
    await deliveries.insert({ ...createDelivery({ id, ...about, ...event }, AT), ...done, latest_attempt: attempt });
  };
  const readHours = async ({ queries }: EndpointStatisticsServices, since: string) =>
    (await queries.readEndpointStats({ id: ENDPOINT, ...SAMPLE_SCOPE }, since, AT)).hours;
  const hours = (of: EndpointStatisticsServices) => readHours(of, HOUR);
  const exact = (of: EndpointStatisticsServices) =>
    eventually(async () => {
      const found = await hours(of);
      expect(convertHoursToCounts(found)).toEqual(await computeHourCountsFromStoredLog(engine.documentStore, ENDPOINT));
      expect(found.every(({ is_exact }) => is_exact)).toBe(true);
      return found;
    });

  test('an outcome stored by an owner that has lost its shard is recounted by the next one', async () => {
    const former = await owner(lease(1));
    const first = lease(1);
    const count = await former.keeper.startCountingAttemptOutcome({ id: ENDPOINT, lease: first }, AT);
    const next = await owner(lease(2));
    // The next owner finds the hour open, and nothing of it in the log.
    await eventually(async () =>
      expect(await hours(next)).toMatchObject([{ is_exact: true, attempts: { succeeded: 0 } }]),
    );
    await store('dlv_1');
    count(attempt);
    expect(await exact(next)).toMatchObject([{ attempts: { succeeded: 1 } }]);
    // Another hour, which begins only now.
    const late = await former.keeper.startCountingAttemptOutcome({ id: ENDPOINT, lease: first }, AT);
    await store('dlv_2');
    late(attempt);
    expect(await exact(next)).toMatchObject([{ attempts: { succeeded: 2 } }]);
  });

  test('a discard that takes effect only after its first recount is counted by the second one', async () => {
    const one = await owner(lease(1));
    const deliveries = await engine.documentStore.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC);
    const requests = await engine.documentStore.collection(HOUR_RECOUNTS_COLLECTION_SPEC);
    await store('dlv_1');
    const [delivery] = await deliveries.getMany(['dlv_1']);
    await one.recounts.requestRecountAroundDiscard(ENDPOINT, AT, async () => {
      await eventually(async () => expect(await requests.count({})).toBe(0));
      await deliveries.upsert(
        convertToDeliveryDocument({ ...delivery, status: 'discarded', completed_at: AT } as DeliveryDocument),
      );
    });
    await eventually(async () => expect(await hours(one)).toMatchObject([{ deliveries: { discarded: 1 } }]));
  });

  test('an hour is not closed while one of its outcomes is being stored', async () => {
    const one = await owner(lease(1));
    const count = await one.keeper.startCountingAttemptOutcome({ id: ENDPOINT, lease: lease(1) }, AT);
    await store('dlv_1');
    await one.keeper.writeOpenStatsHours();
    const next = await owner(lease(2));
    expect(await exact(next)).toMatchObject([{ attempts: { succeeded: 1 } }]);
    count(undefined);
  });

  test('counts are written while another hour, with many attempts, is recounted', async () => {
    const { documentStore } = engine;
    const logReads = jest.fn();
    const slow = new Proxy(documentStore, {
      get: (target, name) =>
        name !== 'collection'
          ? Reflect.get(target, name)
          : async (spec: CollectionSpec) => {
              const collection = await target.collection(spec);
              const find = async (query: Query) => {
                if (query.index !== 'attempted') return collection.find(query);
                logReads();
                await mayRead.promise;
                return collection.find(query);
              };
              return Object.assign(Object.create(collection) as typeof collection, { find });
            },
    });
    const one = await owner(lease(1), slow);
    await one.recounts.requestRecountOfHour('attempts', ENDPOINT, EARLIER_HOUR);
    await eventually(() => expect(logReads).toHaveBeenCalledTimes(1));
    const count = await one.keeper.startCountingAttemptOutcome({ id: ENDPOINT, lease: lease(1) }, AT);
    await store('dlv_1');
    count(attempt);
    await eventually(async () => expect(await hours(one)).toMatchObject([{ attempts: { succeeded: 1 } }]));
    expect(logReads).toHaveBeenCalledTimes(1);
    mayRead.resolve();
    await eventually(async () =>
      expect(await readHours(one, EARLIER_HOUR)).toMatchObject([{ is_exact: true }, { is_exact: true }]),
    );
  });

  test('an owner that acquires its shard again recounts what it had not written', async () => {
    const one = await owner(lease(1));
    const count = await one.keeper.startCountingAttemptOutcome({ id: ENDPOINT, lease: lease(1) }, AT);
    const again = await one.keeper.startCountingAttemptOutcome({ id: ENDPOINT, lease: lease(2) }, AT);
    await store('dlv_1');
    count(attempt);
    again(undefined);
    const next = await owner(lease(3));
    expect(await exact(next)).toMatchObject([{ attempts: { succeeded: 1 } }]);
  });
});
