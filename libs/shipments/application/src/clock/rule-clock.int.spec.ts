import { InProcessLeases } from '@tracking/embedded';
import type { EventStore, StoredEvent } from '@tracking/ports';
import { streamOf } from '@tracking/shipments-domain';
import { eventually, noMetrics, silentLogger } from '@tracking/testing';
import { milestone, upsert } from '../../test/builders.ts';
import { InterceptedStore, TestEngine, replica } from '../../test/engine.ts';
import { StoredDeadlines } from '../../test/stored-deadlines.ts';
import { RuleClock } from './rule-clock.ts';

const HOUR_MS = 3_600_000;
/** When departures that were to be at midnight are overdue. */
const NOON = Date.parse('2026-03-02T12:00:00.000Z');

describe('the clock over the embedded engines', () => {
  let engine: TestEngine;
  let deadlines: StoredDeadlines;
  /** What every machine takes for the time, in epoch milliseconds. */
  let now: number;
  let elapsed: number;
  beforeEach(async () => {
    engine = await TestEngine.open();
    deadlines = new StoredDeadlines(() => engine.store);
    now = NOON - 24 * HOUR_MS;
    elapsed = 0;
  });
  afterEach(() => engine.close());

  const at = () => new Date(now).toISOString();

  /** A shipment whose departure is overdue so many milliseconds after noon. */
  async function create(ms = 0): Promise<string> {
    const etd = new Date(NOON - 12 * HOUR_MS + ms).toISOString();
    const { answer } = await replica(engine.store).upsertShipment(
      upsert({ house_bill: 'HB-1', mode: 'ocean', etd }, { at: at() }),
    );
    deadlines.ids.push(answer.shipment.id);
    return answer.shipment.id;
  }

  /** One replica, with a cache and a clock of its own; answers what lets its clock go once through what is due. */
  function sweeper(store: EventStore = engine.store): () => Promise<void> {
    const clock = new RuleClock({
      shipments: replica(store),
      workList: deadlines,
      leases: new InProcessLeases(1),
      clock: () => new Date(now),
      logger: silentLogger,
      metrics: noMetrics,
      elapsed: () => elapsed,
      rest: async () => undefined,
    });
    return () => clock.round(new AbortController().signal, { isHeld: () => true });
  }

  async function eventsOf(id: string, type?: string): Promise<readonly StoredEvent[]> {
    const events = await engine.store.read(streamOf(id));
    return events.filter((event) => type === undefined || event.type === type);
  }
  const opened = (id: string) => eventsOf(id, 'exception.opened.v1');
  const timesOpened = async (ids: readonly string[]) => {
    const each = await Promise.all(ids.map(async (id) => (await opened(id)).length));
    return [...new Set(each)];
  };
  const openNow = async (id: string) => {
    const { answer } = await replica(engine.store).checkRules({
      ...milestone(id),
      ...{ type: 'CheckRules', id: crypto.randomUUID(), at: at() },
    });
    return answer.outcome;
  };

  it('opens an exception at its moment, not before, and once', async () => {
    const id = await create();
    const sweep = sweeper();
    now = NOON - 1;
    await sweep();
    expect(await opened(id)).toEqual([]);
    now = NOON;
    await sweep();
    await sweep();
    now = NOON + HOUR_MS;
    await sweep();
    expect(await opened(id)).toMatchObject([
      {
        data: { exception: { type: 'departure_overdue', opened_at: new Date(NOON).toISOString() } },
        metadata: { actor: { type: 'system', id: 'clock' }, recorded_at: new Date(NOON).toISOString() },
      },
    ]);
  });

  it('comes back at the moment that a check found, until there is none', async () => {
    const id = await create();
    const sweep = sweeper();
    for (now = NOON; now < NOON + 40 * 24 * HOUR_MS; now += 6 * HOUR_MS) await sweep();
    const told = await eventsOf(id);
    // Overdue, graver after two days, and nothing heard for seven: each once, however often it was looked.
    expect(told.map(({ type, metadata }) => [type, metadata['next_check_at']])).toEqual([
      ['shipment.created.v1', '2026-03-02T12:00:00.000Z'],
      ['exception.opened.v1', '2026-03-04T00:00:00.000Z'],
      ['exception.updated.v1', '2026-03-09T00:00:00.000Z'],
      ['exception.opened.v1', null],
    ]);
  });

  it('opens after a downtime what became due in it, in order of its moments', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 40; n += 1) ids.push(await create(((n * 17) % 40) * 1_000));
    await engine.reopen();
    now = NOON + 5 * HOUR_MS;
    await sweeper()();
    expect(await timesOpened(ids)).toEqual([1]);
    const positions = new Map(await Promise.all(ids.map(async (id) => [id, (await opened(id))[0]!.position] as const)));
    const inOrder = ids.toSorted((one, other) => (positions.get(one)! < positions.get(other)! ? -1 : 1));
    const turns = inOrder.map((id) => Math.floor(((ids.indexOf(id) * 17) % 40) / 4));
    // Four go side by side.
    expect(turns).toEqual(turns.toSorted((one, other) => one - other));
  });

  it('opens each once where two sweep at once', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 40; n += 1) ids.push(await create(n));
    now = NOON + HOUR_MS;
    const sweeps = [sweeper(), sweeper(), sweeper()];
    await Promise.all(sweeps.map((sweep) => sweep()));
    expect(await timesOpened(ids)).toEqual([1]);
  });

  it('opens each once where one that stood still goes on after another has swept', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 12; n += 1) ids.push(await create(n));
    now = NOON + HOUR_MS;
    const store = new InterceptedStore(engine.store);
    const still = Promise.withResolvers<void>();
    let waiting = 0;
    store.intercept = async (append) => {
      waiting += 1;
      await still.promise;
      return append();
    };
    const woken = sweeper(store)();
    await eventually(() => expect(waiting).toBe(4));
    await sweeper()();
    now += HOUR_MS;
    still.resolve();
    await woken;
    expect(await timesOpened(ids)).toEqual([1]);
  });

  it('does nothing twice where the work list is behind', async () => {
    const id = await create();
    await deadlines.fallBehind();
    now = NOON + HOUR_MS;
    const sweep = sweeper();
    await sweep();
    const after = await eventsOf(id);
    for (let minutes = 0; minutes < 60; minutes += 1) {
      elapsed += 60_000;
      await sweep();
    }
    expect(await eventsOf(id)).toEqual(after);
    // What came meanwhile resolved it: nothing opens it again, although the list still says that it is due.
    await replica(engine.store).recordMilestone(
      milestone(id, { code: 'vessel_departed', occurred_at: at() }, { at: at() }),
    );
    elapsed += 600_000;
    await sweep();
    expect(await opened(id)).toHaveLength(1);
    expect(await eventsOf(id, 'exception.resolved.v2')).toHaveLength(1);
  });

  it('keeps what it did while the time was an hour ahead, and does it no second time', async () => {
    const [early, later] = [await create(30 * 60_000), await create(3 * HOUR_MS)];
    const sweep = sweeper();
    now = NOON + HOUR_MS;
    await sweep();
    expect([await timesOpened([early]), await timesOpened([later])]).toEqual([[1], [0]]);
    now = NOON;
    await sweep();
    expect(await openNow(early)).toBe('unchanged');
    for (; now < NOON + 4 * HOUR_MS; now += 10 * 60_000) await sweep();
    expect(await timesOpened([early, later])).toEqual([1]);
    expect(await eventsOf(early, 'exception.resolved.v2')).toEqual([]);
    await replica(engine.store).recordMilestone(
      milestone(early, { code: 'vessel_departed', occurred_at: at() }, { at: at() }),
    );
    expect(await eventsOf(early, 'exception.resolved.v2')).toHaveLength(1);
  });

  it('opens on time what an hour behind made late, once the time is right again', async () => {
    const id = await create();
    const sweep = sweeper();
    now = NOON - HOUR_MS;
    await sweep();
    expect(await opened(id)).toEqual([]);
    now = NOON + 1;
    await sweep();
    expect(await opened(id)).toHaveLength(1);
  });
});
