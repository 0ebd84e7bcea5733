import { DomainError } from '@tracking/contracts';
import { BusyError, UnavailableError } from '@tracking/ports';
import { RuleClockTestHarness, createNthShipmentId } from '../../test/clock-test-harness.ts';

const SECOND = 1_000;
const away = new UnavailableError('event store', 'away');

describe('the clock', () => {
  it('checks a shipment when due, and not before', async () => {
    const harness = new RuleClockTestHarness();
    harness.setDueTimeOfShipment(1, 60);
    harness.now = 59.999;
    await harness.checkDueShipmentsOnce();
    expect(harness.takeCheckedShipmentIds()).toEqual([]);
    harness.now = 60;
    await harness.checkDueShipmentsOnce();
    expect(harness.commands).toMatchObject([
      {
        shipment_id: createNthShipmentId(1),
        at: '2026-03-02T00:01:00.000Z',
        workspace_id: 'wsp_1',
        environment: 'live',
        actor: { type: 'system', id: 'clock' },
      },
    ]);
    harness.now = 3_600;
    await harness.checkDueShipmentsOnce();
    expect(harness.takeCheckedShipmentIds()).toEqual([createNthShipmentId(1)]);
    expect(harness.metrics.getMetricValue('clock_checks_total{outcome="checked"}')).toBe(1);
  });

  it('gives each check its own id and request id', async () => {
    const harness = new RuleClockTestHarness();
    for (let n = 0; n < 3; n += 1) harness.setDueTimeOfShipment(n, 1);
    harness.now = 1;
    await harness.checkDueShipmentsOnce();
    expect(new Set(harness.commands.map(({ id }) => id)).size).toBe(3);
    expect(new Set(harness.commands.map(({ request_id }) => request_id)).size).toBe(3);
  });

  it('checks due shipments sorted by due time, a few concurrently, and reads nothing else', async () => {
    const harness = new RuleClockTestHarness();
    const due = Array.from({ length: 250 }, (_, n) => (n * 7) % 250);
    for (const n of due) harness.setDueTimeOfShipment(n, n);
    harness.setDueTimeOfShipment(999, 1_000);
    harness.now = 500;
    await harness.checkDueShipmentsOnce();
    expect(harness.takeCheckedShipmentIds()).toEqual(Array.from({ length: 250 }, (_, n) => createNthShipmentId(n)));
    expect(harness.most).toBe(4);
    expect(harness.looks).toEqual([100, 100, 50]);
  });

  it('pauses three times as long as it works', async () => {
    const harness = new RuleClockTestHarness();
    harness.takes = 10;
    for (let n = 0; n < 20; n += 1) harness.setDueTimeOfShipment(n, 1);
    harness.now = 2;
    await harness.checkDueShipmentsOnce();
    expect(harness.rests).toEqual([0, 30, 30, 30, 30, 30]);
  });

  it('holds shipments that a stale list still contains, longer each time', async () => {
    const harness = new RuleClockTestHarness();
    harness.isBehind = true;
    harness.setDueTimeOfShipment(1, 1);
    harness.setDueTimeOfShipment(2, 2);
    harness.now = 2;
    for (const seconds of [0, 4.9, 0.1, 19.9, 0.1]) {
      harness.elapsed += seconds * SECOND;
      await harness.checkDueShipmentsOnce();
      const expected = seconds === 4.9 || seconds === 19.9 ? [] : [createNthShipmentId(1), createNthShipmentId(2)];
      expect(harness.takeCheckedShipmentIds()).toEqual(expected);
    }
  });

  it('checks a held shipment immediately at its next due time', async () => {
    const harness = new RuleClockTestHarness();
    harness.isBehind = true;
    harness.setDueTimeOfShipment(1, 1);
    harness.now = 2;
    await harness.checkDueShipmentsOnce();
    harness.setDueTimeOfShipment(1, 2);
    await harness.checkDueShipmentsOnce();
    expect(harness.takeCheckedShipmentIds()).toEqual([createNthShipmentId(1), createNthShipmentId(1)]);
  });

  it('reads beyond more than a page of held shipments', async () => {
    const harness = new RuleClockTestHarness();
    harness.isBehind = true;
    for (let n = 0; n < 150; n += 1) harness.setDueTimeOfShipment(n, 1);
    harness.now = 3;
    await harness.checkDueShipmentsOnce();
    harness.takeCheckedShipmentIds();
    harness.setDueTimeOfShipment(200, 2);
    await harness.checkDueShipmentsOnce();
    expect(harness.takeCheckedShipmentIds()).toEqual([createNthShipmentId(200)]);
  });

  it.each([
    ['is refused', new DomainError('not_found', 'gone')],
    ['fails', new Error('poison')],
  ])('continues if a check %s, logs it and retries later', async (_, error) => {
    const harness = new RuleClockTestHarness(({ shipment_id }) =>
      shipment_id === createNthShipmentId(1) ? error : undefined,
    );
    for (let n = 0; n < 20; n += 1) harness.setDueTimeOfShipment(n, n);
    harness.now = 60;
    await harness.checkDueShipmentsOnce();
    expect(harness.takeCheckedShipmentIds()).toHaveLength(20);
    expect(harness.lines).toMatchObject([{ level: 'error', fields: { shipment_id: createNthShipmentId(1) } }]);
    expect(harness.metrics.getMetricValue('clock_checks_total{outcome="failed"}')).toBe(1);
    await harness.checkDueShipmentsOnce();
    expect(harness.takeCheckedShipmentIds()).toEqual([]);
    harness.elapsed += 5 * SECOND;
    await harness.checkDueShipmentsOnce();
    expect(harness.takeCheckedShipmentIds()).toEqual([createNthShipmentId(1)]);
  });

  it('waits for an unavailable engine, then continues from the same shipment', async () => {
    let isAway = true;
    const harness = new RuleClockTestHarness(() => (isAway ? away : undefined));
    for (let n = 0; n < 20; n += 1) harness.setDueTimeOfShipment(n, n);
    harness.now = 60;
    await expect(harness.checkDueShipmentsOnce()).rejects.toBe(away);
    expect(harness.takeCheckedShipmentIds()).toHaveLength(4);
    expect(harness.metrics.getMetricValue('clock_due')).toBe(20);
    expect(harness.metrics.getMetricValue('clock_lag_seconds')).toBe(60);
    isAway = false;
    await harness.checkDueShipmentsOnce();
    expect(harness.takeCheckedShipmentIds()).toEqual(Array.from({ length: 16 }, (_, n) => createNthShipmentId(n + 4)));
    harness.elapsed += 5 * SECOND;
    await harness.checkDueShipmentsOnce();
    expect(harness.takeCheckedShipmentIds()).toHaveLength(4);
    expect(harness.metrics.getMetricValue('clock_due')).toBe(0);
    expect(harness.metrics.getMetricValue('clock_lag_seconds')).toBe(0);
  });

  it('reports no due shipment a minute after its last check, because another process may check them', async () => {
    const harness = new RuleClockTestHarness(() => away);
    harness.setDueTimeOfShipment(1, 0);
    harness.now = 60;
    await expect(harness.checkDueShipmentsOnce()).rejects.toBe(away);
    harness.elapsed += 59 * SECOND;
    expect(harness.metrics.getMetricValue('clock_lag_seconds')).toBe(60);
    harness.elapsed += SECOND;
    expect(harness.metrics.getMetricValue('clock_due')).toBe(0);
    expect(harness.metrics.getMetricValue('clock_lag_seconds')).toBe(0);
  });

  it('continues with the next shipments if others keep writing to one', async () => {
    const busy = new BusyError('shipments', 'other replicas keep writing to this shipment');
    const harness = new RuleClockTestHarness(({ shipment_id }) =>
      shipment_id === createNthShipmentId(0) ? busy : undefined,
    );
    for (let n = 0; n < 20; n += 1) harness.setDueTimeOfShipment(n, n);
    harness.now = 60;
    await harness.checkDueShipmentsOnce();
    expect(harness.takeCheckedShipmentIds()).toHaveLength(20);
    harness.elapsed += 5 * SECOND;
    // A single failure cannot be distinguished from an unavailable engine.
    await expect(harness.checkDueShipmentsOnce()).rejects.toBe(busy);
    harness.setDueTimeOfShipment(30, 30);
    await harness.checkDueShipmentsOnce();
    expect(harness.takeCheckedShipmentIds()).toEqual([0, 30].map(createNthShipmentId));
  });

  it('starts nothing after losing its lease or being stopped', async () => {
    const ending = new AbortController();
    const stages = [
      new RuleClockTestHarness(() => {
        stages[0]!.isHeld = false;
        return undefined;
      }),
      new RuleClockTestHarness(() => {
        ending.abort();
        return undefined;
      }),
    ];
    for (const harness of stages) {
      for (let n = 0; n < 250; n += 1) harness.setDueTimeOfShipment(n, 1);
      harness.now = 2;
      await harness.checkDueShipmentsOnce(ending.signal);
      expect(harness.takeCheckedShipmentIds()).toHaveLength(4);
      expect(harness.looks).toEqual([100]);
    }
  });

  it('checks nothing if the process was paused until the lease was taken over', async () => {
    const harness = new RuleClockTestHarness();
    harness.setDueTimeOfShipment(1, 1);
    harness.now = 2;
    harness.isHeld = false;
    await harness.checkDueShipmentsOnce();
    expect(harness.takeCheckedShipmentIds()).toEqual([]);
  });
});
