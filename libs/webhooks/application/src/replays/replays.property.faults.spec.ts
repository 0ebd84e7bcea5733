import { jest } from '@jest/globals';
import { type EventType, type PublishedEvent, STANDARD_EVENT_TYPES } from '@tracking/contracts';
import { eventually, createPropertyTestOptions } from '@tracking/testing';
import { REPLAYED_STATUSES, type ReplayFilter, createDelivery, renderDeliveryBody } from '@tracking/webhooks-domain';
import fc from 'fast-check';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import { type EventBeforeReplay, selectReplayedEvents } from '../../test/naive-replay.ts';
import {
  type HarnessEndpoint,
  type RunningWebhooks,
  SAMPLE_SCOPE,
  WebhooksTestHarness,
} from '../../test/webhooks-test-harness.ts';
import {
  DELIVERIES_COLLECTION_SPEC,
  type DeliveryDocument,
  PAYLOADS_COLLECTION_SPEC,
  type PayloadDocument,
  createDeliveryId,
  createPayloadId,
  convertToDeliveryDocument,
} from '../store/delivery-document.ts';

jest.setTimeout(600_000);

const URL_A = 'https://a.example.com/hooks';
const POLICY = { firstMs: 20, factor: 2, capMs: 100, windowMs: 3_600_000 };
const HOUR_MS = 3_600_000;
/** Event times in milliseconds; few, so that many events share one. */
const TIMES = 12;
const REASONS = ['timeout', 'unexpected_status', 'connection_reset'] as const;
/** The endpoint is subscribed to the standard types. */
const TYPES = ['shipment.created', 'milestone.recorded', 'exception.updated'] as const satisfies readonly EventType[];

const pastEvents = fc.array(
  fc.record({
    at: fc.nat(TIMES),
    type: fc.constantFrom(...TYPES),
    fate: fc.constantFrom(...REPLAYED_STATUSES, 'missed', 'waiting', 'sandbox'),
    reason: fc.constantFrom(...REASONS),
    /** Time of recording, if recorded; in another order than the events. */
    recordedAt: fc.nat(TIMES),
    /** Number of attempts that the receiver refuses from now on. */
    refusals: fc.constantFrom(0, 0, 0, 1, 2, Infinity),
  }),
  { minLength: 1, maxLength: 80, size: 'max' },
);
const some = <T>(...of: readonly T[]) => fc.option(fc.subarray([...of], { minLength: 1 }), { nil: null });
const filters = fc.record({
  since: fc.option(fc.nat(TIMES / 2), { nil: null, freq: 2 }),
  until: fc.option(fc.integer({ min: TIMES / 2, max: TIMES }), { nil: null, freq: 2 }),
  event_types: some(...TYPES),
  statuses: fc.subarray([...REPLAYED_STATUSES], { minLength: 1 }),
  reasons: some(...REASONS),
});
const deaths = fc.array(fc.record({ dieAt: fc.integer({ min: 1, max: 120 }), before: fc.boolean() }), { maxLength: 3 });
const disturbances = fc.array(
  fc.record({
    what: fc.constantFrom('kill', 'lose leases', 'cancel and resume', 'disable and enable', 're-point'),
    /** Resolves once this many further requests have arrived, or the replay is completed. */
    after: fc.nat(25),
  }),
  { maxLength: 4, size: 'max' },
);

const scenes = fc.record({ events: pastEvents, filter: filters, deaths, disturbances });
type Scene = typeof scenes extends fc.Arbitrary<infer S> ? S : never;

/** A replay in a process that dies repeatedly. Requests are sent to another process. */
class ReplayRun {
  private readonly past: EventBeforeReplay[] = [];
  private readonly refusals = new Map<string, number>();
  private readonly unchanged = new Map<string, DeliveryDocument>();
  private worker: RunningWebhooks | undefined;
  private readonly urls = [URL_A];

  constructor(
    private readonly harness: WebhooksTestHarness,
    private readonly api: RunningWebhooks,
    private readonly endpoint: HarnessEndpoint,
    private readonly start: number,
  ) {}

  async prepare(events: Scene['events']): Promise<void> {
    const deliveries = await this.harness.engine.documentStore.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC);
    const payloads = await this.harness.engine.documentStore.collection<PayloadDocument>(PAYLOADS_COLLECTION_SPEC);
    const bodies: PayloadDocument[] = [];
    for (const { at, type, fate, reason, recordedAt, refusals } of events) {
      const event = this.harness.addAcknowledgedEventToLog({ type, created_at: this.time(at) });
      const hasReason = fate === 'dead_lettered' || fate === 'discarded' || fate === 'waiting';
      this.past.push({ event, fate, reason: hasReason ? reason : null });
      this.refusals.set(event.id, refusals);
      if (fate === 'missed') continue;
      const document = this.delivery(event, { fate, reason: hasReason ? reason : null }, this.time(recordedAt));
      this.unchanged.set(event.id, document);
      const body = renderDeliveryBody(event, { version: this.endpoint.api_version, form: 'full' });
      bodies.push({ id: document.payload_id, body, created_at: document.created_at });
    }
    const recorded = [...this.unchanged.values()];
    await Promise.all([
      deliveries.writeMany(recorded.map((document) => ({ kind: 'insert', document }))),
      payloads.writeMany(bodies.map((document) => ({ kind: 'insert', document }))),
    ]);
    this.behave(URL_A);
  }

  filter({ since, until, ...rest }: Scene['filter']): ReplayFilter {
    const time = (at: number | null) => (at === null ? null : this.time(at));
    return { ...rest, since: time(since), until: time(until) ?? this.harness.now() };
  }

  /** Runs the replay to its end, whatever happens in between, and returns it. */
  async run(filter: ReplayFilter, { deaths, disturbances }: Pick<Scene, 'deaths' | 'disturbances'>) {
    const mortals = [
      ...deaths.map(({ dieAt, before }) => new SimulatedKillableProcess(dieAt, before)),
      new SimulatedKillableProcess(),
    ];
    const begin = async () => {
      this.worker = await this.harness.startWebhooks(
        { policy: POLICY },
        mortals.shift() ?? new SimulatedKillableProcess(),
      );
    };
    await begin();
    const on = () => ({ ...this.harness.createSampleWebhookCommand(), endpoint_id: this.endpoint.id });
    const { id: replay_id } = await this.api.replays.create({ ...on(), filter });
    /** Ensures that some process works; returns whether the replay is completed. */
    const goesOn = async () => {
      if (this.worker?.process.dead) await begin();
      return (await this.api.replays.get({ ...SAMPLE_SCOPE, replay_id })).status === 'completed';
    };
    for (const { what, after } of disturbances) {
      const due = this.arrived.length + after;
      await eventually(async () => expect((await goesOn()) || this.arrived.length >= due).toBe(true));
      await this.disturb(what, replay_id);
    }
    await eventually(async () => expect(await goesOn()).toBe(true), { deadlineMs: 60_000 });
    return this.api.replays.get({ ...SAMPLE_SCOPE, replay_id });
  }

  expected(filter: ReplayFilter): ReadonlySet<string> {
    return selectReplayedEvents(this.past, STANDARD_EVENT_TYPES, filter);
  }

  /** Ids of events whose retries become due during the replay, once the endpoint has another URL. */
  get dueBeside(): ReadonlySet<string> {
    const waiting = this.past.filter(({ fate }) => this.urls.length > 1 && fate === 'waiting');
    return new Set(waiting.map(({ event }) => event.id));
  }

  /** Ids of those events that the replay may also find, once they ended by their own schedule. */
  mayMatch(filter: ReplayFilter): ReadonlySet<string> {
    const { dueBeside } = this;
    const ended = this.past.filter(({ event }) => dueBeside.has(event.id));
    const reason = 'unexpected_status';
    const succeeded = ended.map((one) => ({ ...one, fate: 'succeeded' as const, reason: null }));
    const dead = ended.map((one) => ({ ...one, fate: 'dead_lettered' as const, reason }));
    const found = [succeeded, dead].flatMap((past) => [...selectReplayedEvents(past, STANDARD_EVENT_TYPES, filter)]);
    return new Set(found);
  }

  /** Ids of the events that arrived, once for each arrival. */
  get arrived(): readonly string[] {
    return this.urls
      .flatMap((url) => this.harness.receivers.listDeliveriesReceivedAtUrl(url))
      .map(({ headers }) => headers['service-event-id'] ?? '');
  }

  /** Numbers of these events that are answered 2xx at the first attempt, and never. */
  answered(ids: ReadonlySet<string>) {
    const refusals = [...ids].map((id) => this.refusals.get(id));
    return {
      atOnce: refusals.filter((times) => times === 0).length,
      never: refusals.filter((times) => times === Infinity).length,
    };
  }

  /** Deliveries of events outside the replay, before and after. */
  async untouched(replayed: ReadonlySet<string>) {
    const deliveries = await this.harness.engine.documentStore.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC);
    const others = this.past.filter(({ event }) => !replayed.has(event.id));
    const before = others.flatMap(({ event }) => this.unchanged.get(event.id) ?? []);
    const after = await deliveries.getMany(others.map(({ event }) => createDeliveryId(this.endpoint.id, event)));
    const byId = (one: DeliveryDocument, other: DeliveryDocument) => (one.id < other.id ? -1 : 1);
    return { before: before.toSorted(byId), after: after.toSorted(byId) };
  }

  async stop(): Promise<void> {
    await this.worker?.stop();
    await this.api.stop();
  }

  private async disturb(what: string, replay_id: string): Promise<void> {
    const { endpoints, replays } = this.api;
    const on = () => ({ ...this.harness.createSampleWebhookCommand(), endpoint_id: this.endpoint.id });
    switch (what) {
      case 'kill':
        return this.worker?.process.simulateProcessKill();
      case 'lose leases':
        return this.worker?.process.simulateLeaseLoss();
      case 'cancel and resume':
        if ((await replays.cancel({ ...this.harness.createSampleWebhookCommand(), replay_id })).status === 'completed')
          return;
        await replays.resume({ ...this.harness.createSampleWebhookCommand(), replay_id });
        return;
      case 'disable and enable':
        await endpoints.disable(on());
        break;
      default: {
        const url = `${URL_A}/${this.urls.length}`;
        this.urls.push(url);
        this.behave(url);
        await endpoints.change({ ...on(), fields: { url } });
        await endpoints.verify(on());
      }
    }
    await endpoints.enable(on());
  }

  private behave(url: string): void {
    this.harness.receivers.setFakeReceiverBehaviour(url, (request) => {
      const id = request.headers['service-event-id'] ?? '';
      const attempts = this.arrived.filter((one) => one === id).length;
      return attempts > (this.refusals.get(id) ?? -1)
        ? this.harness.receivers.respondWithOk(request)
        : createReceiverAnswer(500);
    });
  }

  private time(at: number): string {
    return new Date(this.start - HOUR_MS + at).toISOString();
  }

  private delivery(
    event: PublishedEvent,
    { fate, reason }: Omit<EventBeforeReplay, 'event'>,
    at: string,
  ): DeliveryDocument {
    const payload_id = createPayloadId(event.id, { version: this.endpoint.api_version, form: 'full' });
    const about = { event_id: event.id, event_type: event.type, event_created_at: event.created_at, payload_id };
    const id = createDeliveryId(this.endpoint.id, event);
    const recorded = createDelivery(
      { ...SAMPLE_SCOPE, ...about, id, endpoint_id: this.endpoint.id, sandbox: fate === 'sandbox' },
      at,
    );
    const attempted = { attempts_count: 1, failures: 1, first_attempt_at: at, last_attempt_at: at };
    const last_error = reason === null ? null : { code: reason, message: 'It failed.' };
    const due = new Date(this.start + 24 * HOUR_MS).toISOString();
    const state =
      fate === 'waiting'
        ? { status: 'retrying' as const, next_attempt_at: due }
        : {
            status: fate === 'sandbox' || fate === 'missed' ? ('succeeded' as const) : fate,
            next_attempt_at: null,
            completed_at: at,
            announced_at: at,
          };
    return convertToDeliveryDocument({ ...recorded, ...attempted, ...state, last_error });
  }
}

async function replayOf(scene: Scene): Promise<void> {
  const harness = await WebhooksTestHarness.openWebhooksHarness();
  const api = await harness.startWebhooks({}, new SimulatedKillableProcess(), harness.receivers, true);
  const endpoint = await harness.createEnabledEndpoint(api, URL_A);
  const run = new ReplayRun(harness, api, endpoint, Date.parse(harness.now()));
  try {
    await run.prepare(scene.events);
    const filter = run.filter(scene.filter);
    const expected = run.expected(filter);
    const { matched, done, failed } = await run.run(filter, scene);
    const replayed = new Set(run.arrived.filter((id) => !run.dueBeside.has(id)));
    expect([...replayed].toSorted()).toEqual([...expected].toSorted());
    expect(done + failed).toBe(matched);
    expect(matched).toBeGreaterThanOrEqual(expected.size);
    expect(matched).toBeLessThanOrEqual(expected.size + run.mayMatch(filter).size);
    const { atOnce, never } = run.answered(expected);
    expect(done).toBeGreaterThanOrEqual(atOnce);
    expect(failed).toBeGreaterThanOrEqual(never);
    const { before, after } = await run.untouched(new Set([...expected, ...run.dueBeside]));
    expect(after).toEqual(before);
  } finally {
    await run.stop();
    await harness.closeWebhooksHarness();
  }
}

test('a replay sends what the naive one would, and counts each delivery once, whatever happens in between', async () => {
  await fc.assert(fc.asyncProperty(scenes, replayOf), { ...createPropertyTestOptions(200), endOnFailure: true });
});
