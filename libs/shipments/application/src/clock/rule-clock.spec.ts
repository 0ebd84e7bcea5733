import { DomainError } from '@tracking/contracts';
import { Busy, Unavailable } from '@tracking/ports';
import { ClockStage, getShipmentId } from '../../test/clock-stage.ts';

const SECOND = 1_000;
const away = new Unavailable('event store', 'away');

describe('the clock', () => {
  it('checks a shipment when due, and not before', async () => {
    const stage = new ClockStage();
    stage.setDueTimeOfShipment(1, 60);
    stage.now = 59.999;
    await stage.runRound();
    expect(stage.takeCheckedShipmentIds()).toEqual([]);
    stage.now = 60;
    await stage.runRound();
    expect(stage.commands).toMatchObject([
      {
        shipment_id: getShipmentId(1),
        at: '2026-03-02T00:01:00.000Z',
        workspace_id: 'wsp_1',
        environment: 'live',
        actor: { type: 'system', id: 'clock' },
      },
    ]);
    stage.now = 3_600;
    await stage.runRound();
    expect(stage.takeCheckedShipmentIds()).toEqual([getShipmentId(1)]);
    expect(stage.metrics.getMetricValue('clock_checks_total{outcome="checked"}')).toBe(1);
  });

  it('gives each check its own id and request id', async () => {
    const stage = new ClockStage();
    for (let n = 0; n < 3; n += 1) stage.setDueTimeOfShipment(n, 1);
    stage.now = 1;
    await stage.runRound();
    expect(new Set(stage.commands.map(({ id }) => id)).size).toBe(3);
    expect(new Set(stage.commands.map(({ request_id }) => request_id)).size).toBe(3);
  });

  it('checks due shipments sorted by due time, a few concurrently, and reads nothing else', async () => {
    const stage = new ClockStage();
    const due = Array.from({ length: 250 }, (_, n) => (n * 7) % 250);
    for (const n of due) stage.setDueTimeOfShipment(n, n);
    stage.setDueTimeOfShipment(999, 1_000);
    stage.now = 500;
    await stage.runRound();
    expect(stage.takeCheckedShipmentIds()).toEqual(Array.from({ length: 250 }, (_, n) => getShipmentId(n)));
    expect(stage.most).toBe(4);
    expect(stage.looks).toEqual([100, 100, 50]);
  });

  it('pauses three times as long as it works', async () => {
    const stage = new ClockStage();
    stage.takes = 10;
    for (let n = 0; n < 20; n += 1) stage.setDueTimeOfShipment(n, 1);
    stage.now = 2;
    await stage.runRound();
    expect(stage.rests).toEqual([0, 30, 30, 30, 30, 30]);
  });

  it('holds shipments that a stale list still contains, longer each time', async () => {
    const stage = new ClockStage();
    stage.isBehind = true;
    stage.setDueTimeOfShipment(1, 1);
    stage.setDueTimeOfShipment(2, 2);
    stage.now = 2;
    for (const seconds of [0, 4.9, 0.1, 19.9, 0.1]) {
      stage.elapsed += seconds * SECOND;
      await stage.runRound();
      const expected = seconds === 4.9 || seconds === 19.9 ? [] : [getShipmentId(1), getShipmentId(2)];
      expect(stage.takeCheckedShipmentIds()).toEqual(expected);
    }
  });

  it('checks a held shipment immediately at its next due time', async () => {
    const stage = new ClockStage();
    stage.isBehind = true;
    stage.setDueTimeOfShipment(1, 1);
    stage.now = 2;
    await stage.runRound();
    stage.setDueTimeOfShipment(1, 2);
    await stage.runRound();
    expect(stage.takeCheckedShipmentIds()).toEqual([getShipmentId(1), getShipmentId(1)]);
  });

  it('reads beyond more than a page of held shipments', async () => {
    const stage = new ClockStage();
    stage.isBehind = true;
    for (let n = 0; n < 150; n += 1) stage.setDueTimeOfShipment(n, 1);
    stage.now = 3;
    await stage.runRound();
    stage.takeCheckedShipmentIds();
    stage.setDueTimeOfShipment(200, 2);
    await stage.runRound();
    expect(stage.takeCheckedShipmentIds()).toEqual([getShipmentId(200)]);
  });

  it.each([
    ['is refused', new DomainError('not_found', 'gone')],
    ['fails', new Error('poison')],
  ])('continues if a check %s, logs it and retries later', async (_, error) => {
    const stage = new ClockStage(({ shipment_id }) => (shipment_id === getShipmentId(1) ? error : undefined));
    for (let n = 0; n < 20; n += 1) stage.setDueTimeOfShipment(n, n);
    stage.now = 60;
    await stage.runRound();
    expect(stage.takeCheckedShipmentIds()).toHaveLength(20);
    expect(stage.lines).toMatchObject([{ level: 'error', fields: { shipment_id: getShipmentId(1) } }]);
    expect(stage.metrics.getMetricValue('clock_checks_total{outcome="failed"}')).toBe(1);
    await stage.runRound();
    expect(stage.takeCheckedShipmentIds()).toEqual([]);
    stage.elapsed += 5 * SECOND;
    await stage.runRound();
    expect(stage.takeCheckedShipmentIds()).toEqual([getShipmentId(1)]);
  });

  it('waits for an unavailable engine, then continues from the same shipment', async () => {
    let isAway = true;
    const stage = new ClockStage(() => (isAway ? away : undefined));
    for (let n = 0; n < 20; n += 1) stage.setDueTimeOfShipment(n, n);
    stage.now = 60;
    await expect(stage.runRound()).rejects.toBe(away);
    expect(stage.takeCheckedShipmentIds()).toHaveLength(4);
    expect(stage.metrics.getMetricValue('clock_due')).toBe(20);
    expect(stage.metrics.getMetricValue('clock_lag_seconds')).toBe(60);
    isAway = false;
    await stage.runRound();
    expect(stage.takeCheckedShipmentIds()).toEqual(Array.from({ length: 16 }, (_, n) => getShipmentId(n + 4)));
    stage.elapsed += 5 * SECOND;
    await stage.runRound();
    expect(stage.takeCheckedShipmentIds()).toHaveLength(4);
    expect(stage.metrics.getMetricValue('clock_due')).toBe(0);
    expect(stage.metrics.getMetricValue('clock_lag_seconds')).toBe(0);
  });

  it('continues with the next shipments if others keep writing to one', async () => {
    const busy = new Busy('shipments', 'other replicas keep writing to this shipment');
    const stage = new ClockStage(({ shipment_id }) => (shipment_id === getShipmentId(0) ? busy : undefined));
    for (let n = 0; n < 20; n += 1) stage.setDueTimeOfShipment(n, n);
    stage.now = 60;
    await stage.runRound();
    expect(stage.takeCheckedShipmentIds()).toHaveLength(20);
    stage.elapsed += 5 * SECOND;
    // A single failure cannot be distinguished from an unavailable engine.
    await expect(stage.runRound()).rejects.toBe(busy);
    stage.setDueTimeOfShipment(30, 30);
    await stage.runRound();
    expect(stage.takeCheckedShipmentIds()).toEqual([0, 30].map(getShipmentId));
  });

  it('starts nothing after losing its lease or being stopped', async () => {
    const ending = new AbortController();
    const stages = [
      new ClockStage(() => {
        stages[0]!.isHeld = false;
        return undefined;
      }),
      new ClockStage(() => {
        ending.abort();
        return undefined;
      }),
    ];
    for (const stage of stages) {
      for (let n = 0; n < 250; n += 1) stage.setDueTimeOfShipment(n, 1);
      stage.now = 2;
      await stage.runRound(ending.signal);
      expect(stage.takeCheckedShipmentIds()).toHaveLength(4);
      expect(stage.looks).toEqual([100]);
    }
  });

  it('checks nothing if the process was paused until the lease was taken over', async () => {
    const stage = new ClockStage();
    stage.setDueTimeOfShipment(1, 1);
    stage.now = 2;
    stage.isHeld = false;
    await stage.runRound();
    expect(stage.takeCheckedShipmentIds()).toEqual([]);
  });
});
