import { jest } from '@jest/globals';
import type { EmbeddedSqliteEngine } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import type { DocumentStore, Lease } from '@tracking/ports';
import { eventually, createPropertyTestOptions, silentLogger, createTempFolder } from '@tracking/testing';
import { markDeliveryDiscarded, createDelivery, computeShardOfEndpoint } from '@tracking/webhooks-domain';
import fc from 'fast-check';
import { convertHoursToCounts, computeHourCountsFromStoredLog } from '../../test/counted-log.ts';
import { SAMPLE_SCOPE } from '../../test/webhooks-test-harness.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import {
  ATTEMPTS_COLLECTION_SPEC,
  type AttemptDocument,
  DELIVERIES_COLLECTION_SPEC,
  type DeliveryDocument,
  type StoredAttempt,
  computeReusableAttemptSlotId,
  convertToDeliveryDocument,
} from '../store/delivery-document.ts';
import {
  RETENTION_WATERMARK_COLLECTION_SPEC,
  RetentionWatermarkStore,
  type RetentionWatermarkDocument,
} from '../store/delivery-queries.ts';
import {
  HOUR_RECOUNTS_COLLECTION_SPEC,
  type HourlyStatisticsRecountRequest,
  HourRecountRequestStore,
} from './hour-log.ts';
import { type EndpointStatisticsServices, openEndpointStatistics } from './statistics.ts';

jest.setTimeout(300_000);

const BEGIN = Date.parse('2026-11-23T14:55:00.000Z');
const MINUTE_MS = 60_000;
/** Statistics read the clock of the run, so that requests are carried out between steps, on slow machines too. */
const SETTLE_MS = 5_000;
const ENDPOINTS = ['whe_one', 'whe_two'] as const;

const steps = fc.array(
  fc.record({
    what: fc.constantFrom(
      'attempt',
      'attempt',
      'attempt',
      'attempt again',
      'discard',
      'discard slowly',
      'hand over',
      'kill',
      'lose',
      'later',
    ),
    endpoint: fc.constantFrom(...ENDPOINTS),
    ok: fc.boolean(),
    ms: fc.nat(300),
    /** Point at which the process dies: after this many further calls that change something. */
    dieIn: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined, freq: 4 }),
  }),
  { minLength: 5, maxLength: 40, size: 'max' },
);
type Step = typeof steps extends fc.Arbitrary<readonly (infer S)[]> ? S : never;

interface Owner {
  readonly process: SimulatedKillableProcess;
  readonly lease: Lease;
  readonly statistics: EndpointStatisticsServices;
}

/** Attempts at two endpoints by owners that die, are replaced, or continue although they were replaced. */
class CountingRun {
  private now = BEGIN;
  private epoch = 0;
  private count = 0;
  private readonly owners: Owner[] = [];
  /** Deliveries, with their latest state. */
  private readonly made = new Map<string, string[]>();

  constructor(readonly engine: EmbeddedSqliteEngine) {}

  async start(dieIn = Infinity): Promise<Owner> {
    this.epoch += 1;
    const process = new SimulatedKillableProcess(dieIn);
    const store = process.wrapDocumentStoreWithFaults(this.engine.documentStore);
    const lease: Lease = {
      ...{ name: 'shard', epoch: this.epoch, lost: new AbortController().signal },
      handOverRequested: new AbortController().signal,
      isLeaseHeld: () => this.owners.at(-1)?.lease === lease,
      releaseLease: () => Promise.resolve(),
    };
    const statistics = await openEndpointStatistics({
      ...{ store, ...(await this.log(store)) },
      shards: {
        get leases() {
          return new Map(lease.isLeaseHeld() ? ENDPOINTS.map((id) => [computeShardOfEndpoint(id), lease]) : []);
        },
      },
      clock: () => new Date(this.now),
      elapsed: () => this.now,
      endpoints: { getEndpoint: () => Promise.resolve(SAMPLE_SCOPE) },
      logger: silentLogger,
      countRetry: () => undefined,
      ...{ writeMs: 3, idleMs: 30_000, settleMs: SETTLE_MS },
    });
    const owner = { process, lease, statistics };
    this.owners.push(owner);
    statistics.keeper.startStatsRounds();
    return owner;
  }

  async take(step: Step): Promise<void> {
    this.passSettleTime();
    const owner = this.owners.at(-1) ?? (await this.start());
    switch (step.what) {
      case 'later':
        this.now += 20 * MINUTE_MS;
        return;
      case 'hand over':
        await owner.process.waitForWorkEndOrDeath(owner.statistics.keeper.writeOpenStatsHours());
        await this.start(step.dieIn);
        return;
      case 'kill':
        owner.process.simulateProcessKill();
        await this.start(step.dieIn);
        return;
      case 'discard':
        return this.discard(owner, step);
      case 'discard slowly':
        return this.discardSlowly(owner, step);
      case 'lose': {
        // The owner lost its shard in the middle of an attempt, and stores the outcome nevertheless.
        await this.attempt(owner, step, () => this.start());
        return;
      }
      case 'attempt':
      case 'attempt again':
        return this.attempt(owner, step);
    }
  }

  /** Advances the clock by more than the time for which a recount request must be unchanged. */
  passSettleTime(): void {
    this.now += SETTLE_MS + 2_000;
  }

  async end(): Promise<EndpointStatisticsServices> {
    for (const { statistics } of this.owners) statistics.keeper.stopStatsRounds();
    // For this long it may be unknown if a succeeded delivery was attempted again in between.
    this.now += 15 * MINUTE_MS;
    const { statistics } = await this.start();
    return statistics;
  }

  async close(): Promise<void> {
    for (const owner of this.owners) {
      owner.statistics.keeper.stopStatsRounds();
      await owner.process.waitForWorkEndOrDeath(owner.statistics.keeper.writeOpenStatsHours());
    }
  }

  get hours() {
    return { since: '2026-11-23T14:00:00.000Z', until: new Date(this.now + 1).toISOString() };
  }

  private async attempt(owner: Owner, step: Step, meanwhile?: () => Promise<unknown>): Promise<void> {
    const { endpoint, ok, ms } = step;
    const at = new Date(this.now).toISOString();
    const error = ok ? null : { code: 'unexpected_status', message: 'The endpoint answered 500.' };
    const log = { at, duration_ms: ms, status_code: ok ? 200 : 500, error, response: null, manual: false };
    await owner.process.waitForWorkEndOrDeath(
      (async () => {
        const tell = await owner.statistics.keeper.startCountingAttemptOutcome(
          { id: endpoint, lease: owner.lease },
          at,
        );
        await meanwhile?.();
        tell(await this.store(owner, step, log));
      })(),
    );
    if (owner.process.dead && this.owners.at(-1) === owner) await this.start();
  }

  private async store({ process }: Owner, { endpoint, what }: Step, log: Omit<StoredAttempt, 'number'>) {
    const { deliveries, attempts } = await this.log(process.wrapDocumentStoreWithFaults(this.engine.documentStore));
    const known = this.made.get(endpoint) ?? [];
    const again = what === 'attempt again' ? await deliveries.get(known.at(-1) ?? '') : undefined;
    const done = { status: log.error === null ? 'succeeded' : 'retrying', last_attempt_at: log.at } as const;
    // A discarded delivery that is attempted again is no longer discarded in the log; the counters still include it.
    if (again !== undefined && again.status !== 'discarded') {
      const { latest_attempt: before, revision, attempts_count: made } = again;
      if (before !== undefined)
        await attempts.upsert({ id: computeReusableAttemptSlotId(again.id, before.number), ...before });
      const attempt = { number: made + 1, ...log };
      const next = { ...again, ...done, attempts_count: made + 1, latest_attempt: attempt, revision: revision + 1 };
      return (await deliveries.replace(next, { revision })) ? attempt : undefined;
    }
    const id = `dlv_${(this.count += 1)}`;
    this.made.set(endpoint, [...known, id]);
    const about = { workspace_id: 'wsp_one', environment: 'live', endpoint_id: endpoint, payload_id: 'p' } as const;
    const event = { event_id: `evt_${id}`, event_type: 'shipment.created', event_created_at: log.at, sandbox: false };
    const attempt = { number: 1, ...log };
    await deliveries.insert({
      ...createDelivery({ id, ...about, ...event }, log.at),
      ...{ ...done, attempts_count: 1, completed_at: log.error === null ? log.at : null, latest_attempt: attempt },
    });
    return attempt;
  }

  /** As any process does, which may be one that dies. */
  private async discard(owner: Owner, { endpoint }: Step): Promise<void> {
    const store = owner.process.wrapDocumentStoreWithFaults(this.engine.documentStore);
    await owner.process.waitForWorkEndOrDeath(this.discardLatest(store, owner.statistics.recounts, endpoint));
    if (owner.process.dead) await this.start();
  }

  /** The owner carries out the first request of a recount before another process discards the delivery. */
  private async discardSlowly(owner: Owner, { endpoint }: Step): Promise<void> {
    const store = this.engine.documentStore;
    const requests = await store.collection<HourlyStatisticsRecountRequest>(HOUR_RECOUNTS_COLLECTION_SPEC);
    await this.discardLatest(store, new HourRecountRequestStore(requests), endpoint, () =>
      eventually(async () => {
        this.passSettleTime();
        const waiting = await requests.find({ filter: { endpoint_id: endpoint }, limit: 10 });
        expect(owner.process.dead ? [] : waiting.map(({ part }) => part)).not.toContain('discards');
      }),
    );
    if (owner.process.dead) await this.start();
  }

  private async discardLatest(
    store: DocumentStore,
    recounts: HourRecountRequestStore,
    endpoint: string,
    meanwhile?: () => Promise<void>,
  ): Promise<void> {
    const at = new Date(this.now).toISOString();
    const { deliveries } = await this.log(store);
    const delivery = await deliveries.get(this.made.get(endpoint)?.at(-1) ?? '');
    if (delivery === undefined) return;
    await recounts.requestRecountAroundDiscard(endpoint, at, async () => {
      await meanwhile?.();
      const after = markDeliveryDiscarded(delivery, at);
      if (after !== delivery)
        await deliveries.replace(convertToDeliveryDocument(after), { revision: delivery.revision });
    });
  }

  private async log(store: DocumentStore) {
    const [deliveries, attempts, watermark] = await Promise.all([
      store.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC),
      store.collection<AttemptDocument>(ATTEMPTS_COLLECTION_SPEC),
      store.collection<RetentionWatermarkDocument>(RETENTION_WATERMARK_COLLECTION_SPEC),
    ]);
    return { deliveries, attempts, watermark: new RetentionWatermarkStore(watermark) };
  }
}

test('whichever process dies at any point, the counters match the log in the end', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const folder = await createTempFolder();
      const engine = await openTestEngine(folder.path);
      const run = new CountingRun(engine);
      try {
        for (const step of taken) await run.take(step);
        const { queries } = await run.end();
        const { since, until } = run.hours;
        for (const id of ENDPOINTS) {
          await eventually(async () => {
            run.passSettleTime();
            const { hours } = await queries.readEndpointStats({ id, ...SAMPLE_SCOPE }, since, until);
            expect(hours.map(({ is_exact }) => is_exact)).not.toContain(false);
            const some = convertHoursToCounts(hours).filter(
              ({ longest, deliveries }) => longest !== null || deliveries.discarded > 0,
            );
            expect(some).toEqual(await computeHourCountsFromStoredLog(engine.documentStore, id));
          });
        }
      } finally {
        await run.close();
        await engine.closeEngine();
        await folder.remove();
      }
    }),
    { ...createPropertyTestOptions(100, 10), endOnFailure: true },
  );
});
