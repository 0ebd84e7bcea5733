import { DomainError } from '@tracking/contracts';
import { UnavailableError } from '@tracking/ports';
import { eventually } from '@tracking/testing';
import { createNthShipmentId } from '../../test/clock-test-harness.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import { RecheckTestHarness } from '../../test/recheck-test-harness.ts';

const away = new UnavailableError('event store', 'away');
const shipments = (count: number, from = 0) => Array.from({ length: count }, (_, n) => createNthShipmentId(from + n));

describe('a re-check begins', () => {
  let harness: RecheckTestHarness;
  beforeEach(() => {
    harness = new RecheckTestHarness();
    harness.addShipments('wsp_1', 2);
    harness.rechecks.changeSettings('wsp_1');
  });
  const isPending = () => {
    expect(harness.rechecks.getRecheck('wsp_1')).toMatchObject({ isRunning: false, step: 0 });
    expect(harness.takeCheckedShipmentIds()).toEqual([]);
  };
  const isDone = () => {
    expect(harness.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 2 });
    expect(harness.takeCheckedShipmentIds()).toEqual(shipments(2));
  };

  it('six seconds after the change was noticed', async () => {
    await harness.recheckAllWorkspacesOnce();
    harness.elapsed = 5_999;
    await harness.recheckAllWorkspacesOnce();
    isPending();
    harness.elapsed = 6_000;
    await harness.recheckAllWorkspacesOnce();
    isDone();
  });

  it('six seconds after the last of several changes', async () => {
    await harness.recheckAllWorkspacesOnce();
    harness.elapsed = 5_000;
    harness.rechecks.changeSettings('wsp_1');
    await harness.recheckAllWorkspacesOnce();
    harness.elapsed = 10_999;
    await harness.recheckAllWorkspacesOnce();
    isPending();
    harness.elapsed = 11_000;
    await harness.recheckAllWorkspacesOnce();
    isDone();
  });

  it('six seconds after the process that takes over noticed it', async () => {
    await harness.recheckAllWorkspacesOnce();
    const other = new RecheckTestHarness(undefined, {}, harness.rechecks);
    other.addShipments('wsp_1', 2);
    other.elapsed = 100_000;
    await other.recheckAllWorkspacesOnce();
    isPending();
    other.elapsed = 106_000;
    await other.recheckAllWorkspacesOnce();
    expect(other.takeCheckedShipmentIds()).toEqual(shipments(2));
  });

  it('when the read models contain all events from before every replica had the settings', async () => {
    await harness.recheckAllWorkspacesOnce();
    harness.head = '7';
    harness.elapsed = 6_000;
    await harness.recheckAllWorkspacesOnce();
    harness.head = '9';
    harness.shown = '6';
    await harness.recheckAllWorkspacesOnce();
    isPending();
    harness.shown = '7';
    await harness.recheckAllWorkspacesOnce();
    isDone();
  });

  it('immediately if nothing was ever stored', async () => {
    harness.head = undefined;
    await harness.runRoundsUntilRecheckBegins();
    isDone();
  });

  it('when this process has the settings, and the read models contain its earlier events', async () => {
    harness.knows = 1;
    await harness.runRoundsUntilRecheckBegins();
    isPending();
    harness.head = '7';
    harness.knows = 2;
    await harness.recheckAllWorkspacesOnce();
    isPending();
    harness.shown = '7';
    await harness.recheckAllWorkspacesOnce();
    isDone();
  });
});

describe('a re-check', () => {
  it('checks each open shipment once, sorted by id, a few concurrently', async () => {
    const harness = new RecheckTestHarness(undefined, { page: 20 });
    harness.addShipments('wsp_1', 50);
    harness.rechecks.changeSettings('wsp_1');
    await harness.runRoundsUntilRecheckBegins();
    expect(harness.commands[0]).toMatchObject({
      at: '2026-03-02T00:00:00.000Z',
      workspace_id: 'wsp_1',
      environment: 'live',
      actor: { type: 'system', id: 'settings' },
    });
    expect(new Set(harness.commands.map(({ id }) => id)).size).toBe(50);
    expect(harness.takeCheckedShipmentIds()).toEqual(shipments(50));
    expect(harness.most).toBe(8);
    expect(harness.metrics.getMetricValue('settings_checks_total{outcome="checked"}')).toBe(50);
    await harness.runRoundsUntilRecheckBegins();
    expect(harness.takeCheckedShipmentIds()).toEqual([]);
  });

  it('reads no shipment twice, and stores its position after each page', async () => {
    const harness = new RecheckTestHarness();
    harness.addShipments('wsp_1', 10);
    harness.rechecks.changeSettings('wsp_1');
    await harness.runRoundsUntilRecheckBegins();
    expect(harness.looks).toEqual([
      [4, 4],
      [4, 4],
      [4, 2],
    ]);
    const place = (n: number) => createNthShipmentId(n).slice(-4);
    expect(harness.rechecks.stored).toEqual([
      'wsp_1 - 0',
      `wsp_1 ${place(3)} 4`,
      `wsp_1 ${place(7)} 8`,
      `wsp_1 ${place(9)} 10 done`,
    ]);
  });

  it('is done immediately if no shipment is open', async () => {
    const harness = new RecheckTestHarness();
    harness.rechecks.changeSettings('wsp_1');
    await harness.runRoundsUntilRecheckBegins();
    expect(harness.rechecks.stored).toEqual(['wsp_1 - 0', 'wsp_1 - 0 done']);
  });

  it('continues from its position in another process without waiting', async () => {
    const first = new RecheckTestHarness(({ shipment_id }) =>
      shipment_id >= createNthShipmentId(6) ? away : undefined,
    );
    first.addShipments('wsp_1', 10);
    first.rechecks.changeSettings('wsp_1');
    await expect(first.runRoundsUntilRecheckBegins()).rejects.toBe(away);
    const next = new RecheckTestHarness(undefined, {}, first.rechecks);
    next.addShipments('wsp_1', 10);
    await next.recheckAllWorkspacesOnce();
    expect(next.takeCheckedShipmentIds()).toEqual(shipments(6, 4));
    expect(next.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 10 });
  });

  it('pauses three times as long as it works', async () => {
    const harness = new RecheckTestHarness(undefined, { page: 20 });
    harness.takes = 10;
    harness.addShipments('wsp_1', 19);
    harness.rechecks.changeSettings('wsp_1');
    await harness.runRoundsUntilRecheckBegins();
    expect(harness.rests).toEqual([0, 30, 30, 30]);
  });

  it('takes turns between many workspaces, so that a large one delays none', async () => {
    const harness = new RecheckTestHarness();
    const sizes = { wsp_1: 40, wsp_2: 3, wsp_3: 5 };
    for (const [id, size] of Object.entries(sizes)) {
      harness.addShipments(id, size);
      harness.rechecks.changeSettings(id);
    }
    await harness.runRoundsUntilRecheckBegins();
    const ends = harness.rechecks.stored.filter((line) => line.endsWith('done')).map((line) => line.slice(0, 5));
    expect(ends).toEqual(['wsp_2', 'wsp_3', 'wsp_1']);
    const before = harness.rechecks.stored.slice(
      0,
      harness.rechecks.stored.findIndex((line) => line.startsWith('wsp_3') && line.endsWith('done')),
    );
    expect(before.filter((line) => line.startsWith('wsp_1')).length).toBe(3);
  });

  it('covers more workspaces than one read returns', async () => {
    const harness = new RecheckTestHarness();
    const ids = Array.from({ length: 250 }, (_, n) => `wsp_${n}`);
    for (const id of ids) harness.rechecks.changeSettings(id);
    await harness.runRoundsUntilRecheckBegins();
    expect(ids.filter((id) => harness.rechecks.getRecheck(id)?.isDone !== true)).toEqual([]);
  });

  it('restarts when the settings change within a page, and stores no former progress', async () => {
    let isFirst = true;
    const harness: RecheckTestHarness = new RecheckTestHarness(({ shipment_id }) => {
      if (isFirst && shipment_id === createNthShipmentId(5)) {
        isFirst = false;
        harness.rechecks.changeSettings('wsp_1');
      }
      return undefined;
    });
    harness.addShipments('wsp_1', 10);
    harness.rechecks.changeSettings('wsp_1');
    await harness.runRoundsUntilRecheckBegins();
    expect(harness.takeCheckedShipmentIds()).toEqual(shipments(8));
    expect(harness.rechecks.getRecheck('wsp_1')).toMatchObject({ version: 3, isRunning: false, checked: 0 });
    await harness.runRoundsUntilRecheckBegins();
    expect(harness.takeCheckedShipmentIds()).toEqual(shipments(10));
    expect(harness.rechecks.getRecheck('wsp_1')).toMatchObject({ version: 3, isDone: true, checked: 10 });
  });

  it('by two jobs concurrently is counted once', async () => {
    const harness = new RecheckTestHarness();
    const other = new RecheckTestHarness(undefined, {}, harness.rechecks);
    for (const each of [harness, other]) each.addShipments('wsp_1', 30);
    harness.rechecks.changeSettings('wsp_1');
    await Promise.all([harness.runRoundsUntilRecheckBegins(), other.runRoundsUntilRecheckBegins()]);
    expect(harness.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 30 });
    expect(new Set([...harness.takeCheckedShipmentIds(), ...other.takeCheckedShipmentIds()])).toEqual(
      new Set(shipments(30)),
    );
  });

  it('ends with the process, and continues from its position', async () => {
    const ending = new AbortController();
    const harness = new RecheckTestHarness(({ shipment_id }) => {
      if (shipment_id === createNthShipmentId(5)) ending.abort();
      return undefined;
    });
    harness.addShipments('wsp_1', 30);
    harness.rechecks.changeSettings('wsp_1');
    await harness.recheckAllWorkspacesOnce(ending.signal);
    harness.elapsed += 6_000;
    await harness.recheckAllWorkspacesOnce(ending.signal);
    expect(harness.takeCheckedShipmentIds()).toEqual(shipments(8));
    await harness.recheckAllWorkspacesOnce();
    expect(harness.takeCheckedShipmentIds()).toEqual(shipments(22, 8));
    expect(harness.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 30 });
  });
});

describe('a shipment that cannot be checked', () => {
  it.each([
    ['that is refused', new DomainError('limit_exceeded', 'too many exceptions')],
    ['at which code of ours fails', new TypeError('no such thing')],
  ])('%s is counted, logged and skipped', async (_, error) => {
    const harness = new RecheckTestHarness(({ shipment_id }) =>
      shipment_id === createNthShipmentId(5) ? error : undefined,
    );
    harness.addShipments('wsp_1', 10);
    harness.rechecks.changeSettings('wsp_1');
    await harness.runRoundsUntilRecheckBegins();
    expect(harness.takeCheckedShipmentIds()).toEqual(shipments(10));
    expect(harness.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 9 });
    expect(harness.metrics.getMetricValue('settings_checks_total{outcome="failed"}')).toBe(1);
    const told = harness.lines.filter(({ level }) => level === 'error');
    expect(told).toMatchObject([{ fields: { shipment_id: createNthShipmentId(5), error: String(error) } }]);
  });

  it('because its engine is busy is retried immediately as the same command', async () => {
    let refusals = 3;
    const isBusy = ({ shipment_id }: { shipment_id: string }) =>
      shipment_id === createNthShipmentId(5) && (refusals -= 1) >= 0 ? away : undefined;
    const harness = new RecheckTestHarness(isBusy, { patienceMs: 60_000 });
    harness.addShipments('wsp_1', 10);
    harness.rechecks.changeSettings('wsp_1');
    await harness.runRoundsUntilRecheckBegins();
    const tries = harness.commands.filter(({ shipment_id }) => shipment_id === createNthShipmentId(5));
    expect(tries).toHaveLength(4);
    expect(new Set(tries.map(({ id }) => id)).size).toBe(1);
    expect(harness.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 10 });
  });

  it('because its engine is unavailable delays its page, but no other workspace', async () => {
    let isAway = true;
    const harness = new RecheckTestHarness(({ shipment_id }) =>
      isAway && shipment_id === createNthShipmentId(1) ? away : undefined,
    );
    harness.addShipments('wsp_1', 10);
    harness.addShipments('wsp_2', 10, 100);
    for (const id of ['wsp_1', 'wsp_2']) harness.rechecks.changeSettings(id);
    await expect(harness.runRoundsUntilRecheckBegins()).rejects.toBe(away);
    expect(harness.rechecks.getRecheck('wsp_1')).toMatchObject({
      isRunning: true,
      isDone: false,
      after: null,
      checked: 0,
    });
    expect(harness.rechecks.getRecheck('wsp_2')).toMatchObject({ isDone: true, checked: 10 });
    expect(harness.takeCheckedShipmentIds().filter((id) => id === createNthShipmentId(1))).toHaveLength(1);
    isAway = false;
    await harness.recheckAllWorkspacesOnce();
    expect(harness.takeCheckedShipmentIds()).toEqual(shipments(10));
    expect(harness.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 10 });
  });
});

describe('a workspace whose page failed', () => {
  it('is checked again a minute later while other workspaces are checked', async () => {
    let failures = 1;
    const harness = new RecheckTestHarness(({ shipment_id }) =>
      shipment_id === createNthShipmentId(1) && (failures -= 1) >= 0 ? away : undefined,
    );
    harness.takes = 20_000;
    harness.addShipments('wsp_1', 3);
    harness.addShipments('wsp_2', 40, 100);
    for (const id of ['wsp_1', 'wsp_2']) harness.rechecks.changeSettings(id);
    await harness.runRoundsUntilRecheckBegins();
    const { stored } = harness.rechecks;
    expect(stored.at(-1)).toMatch(/^wsp_2 .* 40 done$/);
    const end = stored.findIndex((line) => /^wsp_1 .* 3 done$/.test(line));
    // The start of both re-checks, and three pages of 20 seconds.
    expect(stored.slice(0, end)).toHaveLength(5);
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
      const process = new SimulatedKillableProcess(dieAt, before);
      const first = new RecheckTestHarness(undefined, { page: 2 }, undefined, process);
      first.addShipments('wsp_1', 7);
      first.rechecks.changeSettings('wsp_1');
      await first.recheckAllWorkspacesOnce();
      first.elapsed = 6_000;
      void first.recheckAllWorkspacesOnce();
      await eventually(() => expect(process.dead).toBe(true));
      const { isRunning = false, checked = 0, isDone } = first.rechecks.getRecheck('wsp_1') ?? {};
      expect([dieAt, isDone]).toEqual([dieAt, dieAt === CALLS && !before]);
      const next = new RecheckTestHarness(undefined, { page: 2 }, first.rechecks);
      next.addShipments('wsp_1', 7);
      await next.recheckAllWorkspacesOnce();
      if (!isRunning) expect(next.commands).toEqual([]);
      next.elapsed = 6_000;
      await next.recheckAllWorkspacesOnce();
      expect(next.takeCheckedShipmentIds()).toEqual(isDone === true ? [] : shipments(7 - checked, checked));
      expect(next.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 7 });
    },
  );
});

describe('the job', () => {
  it('polls for changes, and ends when stopped', async () => {
    const harness = new RecheckTestHarness(undefined, { everyMs: 1, beginsAfterMs: 0 });
    harness.addShipments('wsp_1', 10);
    harness.job.job.startJobRounds();
    harness.rechecks.changeSettings('wsp_1');
    await eventually(() => expect(harness.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 10 }));
    await harness.job.job.stopJobRounds();
  });
});
