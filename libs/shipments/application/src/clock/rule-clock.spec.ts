import { DomainError } from '@tracking/contracts';
import { Busy, Unavailable } from '@tracking/ports';
import { ClockStage, shipmentOf } from '../../test/clock-stage.ts';

const SECOND = 1_000;
const away = new Unavailable('event store', 'away');

describe('the clock', () => {
  it('checks a shipment at its moment, and not before', async () => {
    const stage = new ClockStage();
    stage.setDue(1, 60);
    stage.now = 59.999;
    await stage.round();
    expect(stage.checked()).toEqual([]);
    stage.now = 60;
    await stage.round();
    expect(stage.commands).toMatchObject([
      {
        shipment_id: shipmentOf(1),
        at: '2026-03-02T00:01:00.000Z',
        workspace_id: 'wsp_1',
        environment: 'live',
        actor: { type: 'system', id: 'clock' },
      },
    ]);
    stage.now = 3_600;
    await stage.round();
    expect(stage.checked()).toEqual([shipmentOf(1)]);
    expect(stage.metrics.value('clock_checks_total{outcome="checked"}')).toBe(1);
  });

  it('gives each check an id and a request of its own', async () => {
    const stage = new ClockStage();
    for (let n = 0; n < 3; n += 1) stage.setDue(n, 1);
    stage.now = 1;
    await stage.round();
    expect(new Set(stage.commands.map(({ id }) => id)).size).toBe(3);
    expect(new Set(stage.commands.map(({ request_id }) => request_id)).size).toBe(3);
  });

  it('goes through what is due in order of its moments, a few at once, and looks at nothing else', async () => {
    const stage = new ClockStage();
    const due = Array.from({ length: 250 }, (_, n) => (n * 7) % 250);
    for (const n of due) stage.setDue(n, n);
    stage.setDue(999, 1_000);
    stage.now = 500;
    await stage.round();
    expect(stage.checked()).toEqual(Array.from({ length: 250 }, (_, n) => shipmentOf(n)));
    expect(stage.most).toBe(4);
    expect(stage.looks).toEqual([100, 100, 50]);
  });

  it('rests three times as long as it works', async () => {
    const stage = new ClockStage();
    stage.takes = 10;
    for (let n = 0; n < 20; n += 1) stage.setDue(n, 1);
    stage.now = 2;
    await stage.round();
    expect(stage.rests).toEqual([0, 30, 30, 30, 30, 30]);
  });

  it('leaves alone what the list shows as before, for longer each time', async () => {
    const stage = new ClockStage();
    stage.isBehind = true;
    stage.setDue(1, 1);
    stage.setDue(2, 2);
    stage.now = 2;
    for (const seconds of [0, 4.9, 0.1, 19.9, 0.1]) {
      stage.elapsed += seconds * SECOND;
      await stage.round();
      const expected = seconds === 4.9 || seconds === 19.9 ? [] : [shipmentOf(1), shipmentOf(2)];
      expect(stage.checked()).toEqual(expected);
    }
  });

  it('checks at its next moment at once what it checked just now', async () => {
    const stage = new ClockStage();
    stage.isBehind = true;
    stage.setDue(1, 1);
    stage.now = 2;
    await stage.round();
    stage.setDue(1, 2);
    await stage.round();
    expect(stage.checked()).toEqual([shipmentOf(1), shipmentOf(1)]);
  });

  it('goes past more than a page of what the list shows as before', async () => {
    const stage = new ClockStage();
    stage.isBehind = true;
    for (let n = 0; n < 150; n += 1) stage.setDue(n, 1);
    stage.now = 3;
    await stage.round();
    stage.checked();
    stage.setDue(200, 2);
    await stage.round();
    expect(stage.checked()).toEqual([shipmentOf(200)]);
  });

  it.each([
    ['is refused', new DomainError('not_found', 'gone')],
    ['fails', new Error('poison')],
  ])('goes on where one %s, tells it and tries again later', async (_, error) => {
    const stage = new ClockStage(({ shipment_id }) => (shipment_id === shipmentOf(1) ? error : undefined));
    for (let n = 0; n < 20; n += 1) stage.setDue(n, n);
    stage.now = 60;
    await stage.round();
    expect(stage.checked()).toHaveLength(20);
    expect(stage.lines).toMatchObject([{ level: 'error', fields: { shipment_id: shipmentOf(1) } }]);
    expect(stage.metrics.value('clock_checks_total{outcome="failed"}')).toBe(1);
    await stage.round();
    expect(stage.checked()).toEqual([]);
    stage.elapsed += 5 * SECOND;
    await stage.round();
    expect(stage.checked()).toEqual([shipmentOf(1)]);
  });

  it('waits for an engine that is away, and then goes on where it was', async () => {
    let isAway = true;
    const stage = new ClockStage(() => (isAway ? away : undefined));
    for (let n = 0; n < 20; n += 1) stage.setDue(n, n);
    stage.now = 60;
    await expect(stage.round()).rejects.toBe(away);
    expect(stage.checked()).toHaveLength(4);
    expect(stage.metrics.value('clock_due')).toBe(20);
    expect(stage.metrics.value('clock_lag_seconds')).toBe(60);
    isAway = false;
    await stage.round();
    expect(stage.checked()).toEqual(Array.from({ length: 16 }, (_, n) => shipmentOf(n + 4)));
    stage.elapsed += 5 * SECOND;
    await stage.round();
    expect(stage.checked()).toHaveLength(4);
    expect(stage.metrics.value('clock_due')).toBe(0);
    expect(stage.metrics.value('clock_lag_seconds')).toBe(0);
  });

  it('goes on past a shipment to which others write all the time', async () => {
    const busy = new Busy('shipments', 'other replicas keep writing to this shipment');
    const stage = new ClockStage(({ shipment_id }) => (shipment_id === shipmentOf(0) ? busy : undefined));
    for (let n = 0; n < 20; n += 1) stage.setDue(n, n);
    stage.now = 60;
    await stage.round();
    expect(stage.checked()).toHaveLength(20);
    stage.elapsed += 5 * SECOND;
    // Alone it cannot be told from an engine that is away.
    await expect(stage.round()).rejects.toBe(busy);
    stage.setDue(30, 30);
    await stage.round();
    expect(stage.checked()).toEqual([0, 30].map(shipmentOf));
  });

  it('begins nothing more when it holds its lease no longer, or is to end', async () => {
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
      for (let n = 0; n < 250; n += 1) stage.setDue(n, 1);
      stage.now = 2;
      await stage.round(ending.signal);
      expect(stage.checked()).toHaveLength(4);
      expect(stage.looks).toEqual([100]);
    }
  });

  it('checks nothing for a process that wakes when its lease is another’s', async () => {
    const stage = new ClockStage();
    stage.setDue(1, 1);
    stage.now = 2;
    stage.isHeld = false;
    await stage.round();
    expect(stage.checked()).toEqual([]);
  });
});
