import { DomainError } from '@tracking/contracts';
import { Unavailable } from '@tracking/ports';
import { eventually } from '@tracking/testing';
import { getShipmentId } from '../../test/clock-stage.ts';
import { KillableProcess } from '../../test/killable-process.ts';
import { RecheckStage } from '../../test/recheck-stage.ts';

const away = new Unavailable('event store', 'away');
const shipments = (count: number, from = 0) => Array.from({ length: count }, (_, n) => getShipmentId(from + n));

describe('a re-check begins', () => {
  let stage: RecheckStage;
  beforeEach(() => {
    stage = new RecheckStage();
    stage.addShipments('wsp_1', 2);
    stage.rechecks.changeSettings('wsp_1');
  });
  const isPending = () => {
    expect(stage.rechecks.getRecheck('wsp_1')).toMatchObject({ isRunning: false, step: 0 });
    expect(stage.takeCheckedShipmentIds()).toEqual([]);
  };
  const isDone = () => {
    expect(stage.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 2 });
    expect(stage.takeCheckedShipmentIds()).toEqual(shipments(2));
  };

  it('six seconds after the change was noticed', async () => {
    await stage.runRound();
    stage.elapsed = 5_999;
    await stage.runRound();
    isPending();
    stage.elapsed = 6_000;
    await stage.runRound();
    isDone();
  });

  it('six seconds after the last of several changes', async () => {
    await stage.runRound();
    stage.elapsed = 5_000;
    stage.rechecks.changeSettings('wsp_1');
    await stage.runRound();
    stage.elapsed = 10_999;
    await stage.runRound();
    isPending();
    stage.elapsed = 11_000;
    await stage.runRound();
    isDone();
  });

  it('six seconds after the process that takes over noticed it', async () => {
    await stage.runRound();
    const other = new RecheckStage(undefined, {}, stage.rechecks);
    other.addShipments('wsp_1', 2);
    other.elapsed = 100_000;
    await other.runRound();
    isPending();
    other.elapsed = 106_000;
    await other.runRound();
    expect(other.takeCheckedShipmentIds()).toEqual(shipments(2));
  });

  it('when the read models contain all events from before every replica had the settings', async () => {
    await stage.runRound();
    stage.head = '7';
    stage.elapsed = 6_000;
    await stage.runRound();
    stage.head = '9';
    stage.shown = '6';
    await stage.runRound();
    isPending();
    stage.shown = '7';
    await stage.runRound();
    isDone();
  });

  it('immediately if nothing was ever stored', async () => {
    stage.head = undefined;
    await stage.runRoundsUntilRecheckBegins();
    isDone();
  });

  it('when this process has the settings, and the read models contain its earlier events', async () => {
    stage.knows = 1;
    await stage.runRoundsUntilRecheckBegins();
    isPending();
    stage.head = '7';
    stage.knows = 2;
    await stage.runRound();
    isPending();
    stage.shown = '7';
    await stage.runRound();
    isDone();
  });
});

describe('a re-check', () => {
  it('checks each open shipment once, sorted by id, a few concurrently', async () => {
    const stage = new RecheckStage(undefined, { page: 20 });
    stage.addShipments('wsp_1', 50);
    stage.rechecks.changeSettings('wsp_1');
    await stage.runRoundsUntilRecheckBegins();
    expect(stage.commands[0]).toMatchObject({
      at: '2026-03-02T00:00:00.000Z',
      workspace_id: 'wsp_1',
      environment: 'live',
      actor: { type: 'system', id: 'settings' },
    });
    expect(new Set(stage.commands.map(({ id }) => id)).size).toBe(50);
    expect(stage.takeCheckedShipmentIds()).toEqual(shipments(50));
    expect(stage.most).toBe(8);
    expect(stage.metrics.getMetricValue('settings_checks_total{outcome="checked"}')).toBe(50);
    await stage.runRoundsUntilRecheckBegins();
    expect(stage.takeCheckedShipmentIds()).toEqual([]);
  });

  it('reads no shipment twice, and stores its position after each page', async () => {
    const stage = new RecheckStage();
    stage.addShipments('wsp_1', 10);
    stage.rechecks.changeSettings('wsp_1');
    await stage.runRoundsUntilRecheckBegins();
    expect(stage.looks).toEqual([
      [4, 4],
      [4, 4],
      [4, 2],
    ]);
    const place = (n: number) => getShipmentId(n).slice(-4);
    expect(stage.rechecks.stored).toEqual([
      'wsp_1 - 0',
      `wsp_1 ${place(3)} 4`,
      `wsp_1 ${place(7)} 8`,
      `wsp_1 ${place(9)} 10 done`,
    ]);
  });

  it('is done immediately if no shipment is open', async () => {
    const stage = new RecheckStage();
    stage.rechecks.changeSettings('wsp_1');
    await stage.runRoundsUntilRecheckBegins();
    expect(stage.rechecks.stored).toEqual(['wsp_1 - 0', 'wsp_1 - 0 done']);
  });

  it('continues from its position in another process without waiting', async () => {
    const first = new RecheckStage(({ shipment_id }) => (shipment_id >= getShipmentId(6) ? away : undefined));
    first.addShipments('wsp_1', 10);
    first.rechecks.changeSettings('wsp_1');
    await expect(first.runRoundsUntilRecheckBegins()).rejects.toBe(away);
    const next = new RecheckStage(undefined, {}, first.rechecks);
    next.addShipments('wsp_1', 10);
    await next.runRound();
    expect(next.takeCheckedShipmentIds()).toEqual(shipments(6, 4));
    expect(next.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 10 });
  });

  it('pauses three times as long as it works', async () => {
    const stage = new RecheckStage(undefined, { page: 20 });
    stage.takes = 10;
    stage.addShipments('wsp_1', 19);
    stage.rechecks.changeSettings('wsp_1');
    await stage.runRoundsUntilRecheckBegins();
    expect(stage.rests).toEqual([0, 30, 30, 30]);
  });

  it('takes turns between many workspaces, so that a large one delays none', async () => {
    const stage = new RecheckStage();
    const sizes = { wsp_1: 40, wsp_2: 3, wsp_3: 5 };
    for (const [id, size] of Object.entries(sizes)) {
      stage.addShipments(id, size);
      stage.rechecks.changeSettings(id);
    }
    await stage.runRoundsUntilRecheckBegins();
    const ends = stage.rechecks.stored.filter((line) => line.endsWith('done')).map((line) => line.slice(0, 5));
    expect(ends).toEqual(['wsp_2', 'wsp_3', 'wsp_1']);
    const before = stage.rechecks.stored.slice(
      0,
      stage.rechecks.stored.findIndex((line) => line.startsWith('wsp_3') && line.endsWith('done')),
    );
    expect(before.filter((line) => line.startsWith('wsp_1')).length).toBe(3);
  });

  it('covers more workspaces than one read returns', async () => {
    const stage = new RecheckStage();
    const ids = Array.from({ length: 250 }, (_, n) => `wsp_${n}`);
    for (const id of ids) stage.rechecks.changeSettings(id);
    await stage.runRoundsUntilRecheckBegins();
    expect(ids.filter((id) => stage.rechecks.getRecheck(id)?.isDone !== true)).toEqual([]);
  });

  it('restarts when the settings change within a page, and stores no former progress', async () => {
    let isFirst = true;
    const stage: RecheckStage = new RecheckStage(({ shipment_id }) => {
      if (isFirst && shipment_id === getShipmentId(5)) {
        isFirst = false;
        stage.rechecks.changeSettings('wsp_1');
      }
      return undefined;
    });
    stage.addShipments('wsp_1', 10);
    stage.rechecks.changeSettings('wsp_1');
    await stage.runRoundsUntilRecheckBegins();
    expect(stage.takeCheckedShipmentIds()).toEqual(shipments(8));
    expect(stage.rechecks.getRecheck('wsp_1')).toMatchObject({ version: 3, isRunning: false, checked: 0 });
    await stage.runRoundsUntilRecheckBegins();
    expect(stage.takeCheckedShipmentIds()).toEqual(shipments(10));
    expect(stage.rechecks.getRecheck('wsp_1')).toMatchObject({ version: 3, isDone: true, checked: 10 });
  });

  it('by two jobs concurrently is counted once', async () => {
    const stage = new RecheckStage();
    const other = new RecheckStage(undefined, {}, stage.rechecks);
    for (const each of [stage, other]) each.addShipments('wsp_1', 30);
    stage.rechecks.changeSettings('wsp_1');
    await Promise.all([stage.runRoundsUntilRecheckBegins(), other.runRoundsUntilRecheckBegins()]);
    expect(stage.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 30 });
    expect(new Set([...stage.takeCheckedShipmentIds(), ...other.takeCheckedShipmentIds()])).toEqual(
      new Set(shipments(30)),
    );
  });

  it('ends with the process, and continues from its position', async () => {
    const ending = new AbortController();
    const stage = new RecheckStage(({ shipment_id }) => {
      if (shipment_id === getShipmentId(5)) ending.abort();
      return undefined;
    });
    stage.addShipments('wsp_1', 30);
    stage.rechecks.changeSettings('wsp_1');
    await stage.runRound(ending.signal);
    stage.elapsed += 6_000;
    await stage.runRound(ending.signal);
    expect(stage.takeCheckedShipmentIds()).toEqual(shipments(8));
    await stage.runRound();
    expect(stage.takeCheckedShipmentIds()).toEqual(shipments(22, 8));
    expect(stage.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 30 });
  });
});

describe('a shipment that cannot be checked', () => {
  it.each([
    ['that is refused', new DomainError('limit_exceeded', 'too many exceptions')],
    ['at which code of ours fails', new TypeError('no such thing')],
  ])('%s is counted, logged and skipped', async (_, error) => {
    const stage = new RecheckStage(({ shipment_id }) => (shipment_id === getShipmentId(5) ? error : undefined));
    stage.addShipments('wsp_1', 10);
    stage.rechecks.changeSettings('wsp_1');
    await stage.runRoundsUntilRecheckBegins();
    expect(stage.takeCheckedShipmentIds()).toEqual(shipments(10));
    expect(stage.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 9 });
    expect(stage.metrics.getMetricValue('settings_checks_total{outcome="failed"}')).toBe(1);
    const told = stage.lines.filter(({ level }) => level === 'error');
    expect(told).toMatchObject([{ fields: { shipment_id: getShipmentId(5), error: String(error) } }]);
  });

  it('because its engine is busy is retried immediately as the same command', async () => {
    let refusals = 3;
    const isBusy = ({ shipment_id }: { shipment_id: string }) =>
      shipment_id === getShipmentId(5) && (refusals -= 1) >= 0 ? away : undefined;
    const stage = new RecheckStage(isBusy, { patienceMs: 60_000 });
    stage.addShipments('wsp_1', 10);
    stage.rechecks.changeSettings('wsp_1');
    await stage.runRoundsUntilRecheckBegins();
    const tries = stage.commands.filter(({ shipment_id }) => shipment_id === getShipmentId(5));
    expect(tries).toHaveLength(4);
    expect(new Set(tries.map(({ id }) => id)).size).toBe(1);
    expect(stage.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 10 });
  });

  it('because its engine is unavailable delays its page, but no other workspace', async () => {
    let isAway = true;
    const stage = new RecheckStage(({ shipment_id }) =>
      isAway && shipment_id === getShipmentId(1) ? away : undefined,
    );
    stage.addShipments('wsp_1', 10);
    stage.addShipments('wsp_2', 3, 100);
    for (const id of ['wsp_1', 'wsp_2']) stage.rechecks.changeSettings(id);
    await expect(stage.runRoundsUntilRecheckBegins()).rejects.toBe(away);
    expect(stage.rechecks.getRecheck('wsp_1')).toMatchObject({
      isRunning: true,
      isDone: false,
      after: null,
      checked: 0,
    });
    expect(stage.rechecks.getRecheck('wsp_2')).toMatchObject({ isDone: true, checked: 3 });
    isAway = false;
    stage.takeCheckedShipmentIds();
    await stage.runRound();
    expect(stage.takeCheckedShipmentIds()).toEqual(shipments(10));
    expect(stage.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 10 });
  });
});

describe.each([
  ['before it has its effect', true],
  ['after it had its effect', false],
])('a process that dies at a call, %s', (_, before) => {
  /** One to begin, seven checks, and one for each of four pages. */
  const CALLS = 12;
  it.each(Array.from({ length: CALLS }, (_, n) => n + 1))(
    'at call %d is followed by one that checks the rest',
    async (dieAt) => {
      const process = new KillableProcess(dieAt, before);
      const first = new RecheckStage(undefined, { page: 2 }, undefined, process);
      first.addShipments('wsp_1', 7);
      first.rechecks.changeSettings('wsp_1');
      await first.runRound();
      first.elapsed = 6_000;
      void first.runRound();
      await eventually(() => expect(process.dead).toBe(true));
      const { isRunning = false, checked = 0, isDone } = first.rechecks.getRecheck('wsp_1') ?? {};
      expect([dieAt, isDone]).toEqual([dieAt, dieAt === CALLS && !before]);
      const next = new RecheckStage(undefined, { page: 2 }, first.rechecks);
      next.addShipments('wsp_1', 7);
      await next.runRound();
      if (!isRunning) expect(next.commands).toEqual([]);
      next.elapsed = 6_000;
      await next.runRound();
      expect(next.takeCheckedShipmentIds()).toEqual(isDone === true ? [] : shipments(7 - checked, checked));
      expect(next.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 7 });
    },
  );
});

describe('the job', () => {
  it('polls for changes, and ends when stopped', async () => {
    const stage = new RecheckStage(undefined, { everyMs: 1, beginsAfterMs: 0 });
    stage.addShipments('wsp_1', 10);
    stage.job.job.startRounds();
    stage.rechecks.changeSettings('wsp_1');
    await eventually(() => expect(stage.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 10 }));
    await stage.job.job.stopRounds();
  });
});
