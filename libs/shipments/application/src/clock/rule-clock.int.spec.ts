import { InProcessLeases } from '@tracking/embedded';
import type { EventStore, StoredEvent } from '@tracking/ports';
import { toShipmentStreamName } from '@tracking/shipments-domain';
import { eventually, noMetrics, silentLogger } from '@tracking/testing';
import { createMilestoneCommand, createUpsertCommand } from '../../test/builders.ts';
import { InterceptedStore, TestEngine, createShipmentsReplica } from '../../test/engine.ts';
import { SimpleDueShipmentList } from '../../test/stored-deadlines.ts';
import { DueShipmentChecker } from './rule-clock.ts';

const HOUR_MS = 3_600_000;
/** The time at which departures planned for midnight are overdue. */
const NOON = Date.parse('2026-03-02T12:00:00.000Z');

describe('the clock over the embedded engines', () => {
  let engine: TestEngine;
  let deadlines: SimpleDueShipmentList;
  /** The time on every machine, in epoch milliseconds. */
  let now: number;
  let elapsed: number;
  beforeEach(async () => {
    engine = await TestEngine.openTestEngine();
    deadlines = new SimpleDueShipmentList(() => engine.store);
    now = NOON - 24 * HOUR_MS;
    elapsed = 0;
  });
  afterEach(() => engine.closeTestEngine());

  const at = () => new Date(now).toISOString();

  /** Creates a shipment whose departure is overdue this many milliseconds after noon. */
  async function create(ms = 0): Promise<string> {
    const etd = new Date(NOON - 12 * HOUR_MS + ms).toISOString();
    const { answer } = await createShipmentsReplica(engine.store).upsertShipment(
      createUpsertCommand({ house_bill: 'HB-1', mode: 'ocean', etd }, { at: at() }),
    );
    deadlines.ids.push(answer.shipment.id);
    return answer.shipment.id;
  }

  /** Creates a replica with its own cache and clock. Returns a function that runs one round of its clock. */
  function sweeper(store: EventStore = engine.store): () => Promise<void> {
    const clock = new DueShipmentChecker({
      shipments: createShipmentsReplica(store),
      workList: deadlines,
      leases: new InProcessLeases(1),
      clock: () => new Date(now),
      logger: silentLogger,
      metrics: noMetrics,
      elapsed: () => elapsed,
      rest: async () => undefined,
    });
    return () => clock.checkDueShipments(new AbortController().signal, { isLeaseHeld: () => true });
  }

  async function eventsOf(id: string, type?: string): Promise<readonly StoredEvent[]> {
    const events = await engine.store.read(toShipmentStreamName(id));
    return events.filter((event) => type === undefined || event.type === type);
  }
  const opened = (id: string) => eventsOf(id, 'exception.opened.v1');
  const timesOpened = async (ids: readonly string[]) => {
    const each = await Promise.all(ids.map(async (id) => (await opened(id)).length));
    return [...new Set(each)];
  };
  const openNow = async (id: string) => {
    const { answer } = await createShipmentsReplica(engine.store).checkRules({
      ...createMilestoneCommand(id),
      ...{ type: 'CheckRules', id: crypto.randomUUID(), at: at() },
    });
    return answer.outcome;
  };

  it('opens an exception when due, not before, and once', async () => {
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

  it('checks again at each time that a check found, until there is none', async () => {
    const id = await create();
    const sweep = sweeper();
    for (now = NOON; now < NOON + 40 * 24 * HOUR_MS; now += 6 * HOUR_MS) await sweep();
    const told = await eventsOf(id);
    // Overdue, a higher severity after two days, and no news for seven days: each once, regardless of the number of
    // checks.
    expect(told.map(({ type, metadata }) => [type, metadata['next_check_at']])).toEqual([
      ['shipment.created.v1', '2026-03-02T12:00:00.000Z'],
      ['exception.opened.v1', '2026-03-04T00:00:00.000Z'],
      ['exception.updated.v1', '2026-03-09T00:00:00.000Z'],
      ['exception.opened.v1', null],
    ]);
  });

  it('opens after a downtime what became due meanwhile, sorted by due time', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 40; n += 1) ids.push(await create(((n * 17) % 40) * 1_000));
    await engine.reopenEngine();
    now = NOON + 5 * HOUR_MS;
    await sweeper()();
    expect(await timesOpened(ids)).toEqual([1]);
    const positions = new Map(await Promise.all(ids.map(async (id) => [id, (await opened(id))[0]!.position] as const)));
    const inOrder = ids.toSorted((one, other) => (positions.get(one)! < positions.get(other)! ? -1 : 1));
    const turns = inOrder.map((id) => Math.floor(((ids.indexOf(id) * 17) % 40) / 4));
    // Four checks run concurrently.
    expect(turns).toEqual(turns.toSorted((one, other) => one - other));
  });

  it('opens each exception once with two concurrent clocks', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 40; n += 1) ids.push(await create(n));
    now = NOON + HOUR_MS;
    const sweeps = [sweeper(), sweeper(), sweeper()];
    await Promise.all(sweeps.map((sweep) => sweep()));
    expect(await timesOpened(ids)).toEqual([1]);
  });

  it('opens each exception once if a paused clock continues after another has checked', async () => {
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

  it('does nothing twice with a stale work list', async () => {
    const id = await create();
    await deadlines.freezeDeadlineList();
    now = NOON + HOUR_MS;
    const sweep = sweeper();
    await sweep();
    const after = await eventsOf(id);
    for (let minutes = 0; minutes < 60; minutes += 1) {
      elapsed += 60_000;
      await sweep();
    }
    expect(await eventsOf(id)).toEqual(after);
    // A milestone resolved the exception in the meantime. Nothing opens it again, although the stale list still
    // contains the shipment.
    await createShipmentsReplica(engine.store).recordMilestone(
      createMilestoneCommand(id, { code: 'vessel_departed', occurred_at: at() }, { at: at() }),
    );
    elapsed += 600_000;
    await sweep();
    expect(await opened(id)).toHaveLength(1);
    expect(await eventsOf(id, 'exception.resolved.v2')).toHaveLength(1);
  });

  it('does not repeat what it did while the time was an hour ahead', async () => {
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
    await createShipmentsReplica(engine.store).recordMilestone(
      createMilestoneCommand(early, { code: 'vessel_departed', occurred_at: at() }, { at: at() }),
    );
    expect(await eventsOf(early, 'exception.resolved.v2')).toHaveLength(1);
  });

  it('opens on time after a clock an hour behind is corrected', async () => {
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
