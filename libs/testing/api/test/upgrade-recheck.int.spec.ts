import { readFileSync } from 'node:fs';
import type { JsonObject } from '@tracking/contracts';
import { InProcessLeases } from '@tracking/embedded';
import type { StoredEvent } from '@tracking/ports';
import {
  ShipmentRecheckJob,
  type RecheckJobDependencies,
  UpgradeRecheckRequester,
  createEventImportAndExport,
} from '@tracking/shipments';
import { eventually, noMetrics } from '@tracking/testing';
import { WorkspaceSettingsStore } from '@tracking/workspace-settings';
import { type Api, startApi } from './start-api.ts';

/**
 * Events that a release stored whose rules did not compare arrivals with the destination. It gave the first four
 * shipments the status `arrived` at a port on the way. The fifth shipment arrived at its destination.
 */
const EVENTS = new URL('./events-before-places.jsonl', import.meta.url);
const DAY_MS = 86_400_000;
const LAST_DAY = Date.parse('2026-10-20T00:00:00Z') / DAY_MS;
const PAGE_SIZE = 2;
const CHECK_MS = 10;

let api: Api;
let key: string;
/** Ids of the five shipments, sorted as a re-check visits them. */
let ids: readonly string[];
let unchanged: string;

beforeEach(async () => {
  api = await startApi();
  key = await api.key('admin');
  const shipments = await importEvents();
  unchanged = shipments.at(-1) ?? '';
  ids = shipments.toSorted();
});
afterEach(() => api.stop());

/** Stores the events of the former release in the workspace, as if it had stored them a few days ago. */
async function importEvents(): Promise<readonly string[]> {
  const shiftMs = (Math.floor(Date.now() / DAY_MS) - LAST_DAY - 3) * DAY_MS;
  const text = readFileSync(EVENTS, 'utf8')
    .replaceAll('wsp_abcdefghijklmnopqrstuvwxya', await api.workspace())
    .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, (time) =>
      JSON.stringify(new Date(Date.parse(time.slice(1, -1)) + shiftMs).toISOString()),
    );
  const events = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Omit<StoredEvent, 'position'>);
  await createEventImportAndExport(api.storage.eventStore).importEvents({ events });
  const position = String(await api.head());
  const { progress } = api.dependencies.readModels;
  await eventually(async () => expect(await progress.reached('deadlines', position, 0)).toBe(true));
  return [...new Set(events.map(({ stream }) => stream.replace('shipment-', 'shp_')))];
}

/** A process of the new release: it has its own objects, and shares only the stores with other processes. */
async function startProcess(parts: Partial<RecheckJobDependencies> = {}) {
  const { eventStore, documentStore } = api.storage;
  const { shipments, readModels, clock, logger } = api.dependencies;
  const settings = await WorkspaceSettingsStore.openWorkspaceSettings({ documentStore });
  const readModelsReached = (position: string, timeoutMs: number) =>
    readModels.progress.reached('deadlines', position, timeoutMs);
  const checked: string[] = [];
  const rests: number[] = [];
  let elapsed = 0;
  const { rechecks } = settings;
  const workspaces = readModels.queries.deadlines;
  const job = new ShipmentRecheckJob({
    shipments: {
      checkRules: (command) => {
        checked.push(command.shipment_id);
        elapsed += CHECK_MS;
        return shipments.checkRules(command);
      },
    },
    settings,
    rechecks,
    unsettledShipments: workspaces,
    afterUpgrade: new UpgradeRecheckRequester({ eventStore, rechecks, workspaces, readModelsReached }),
    eventStore,
    readModelsReached,
    leases: new InProcessLeases(1),
    clock,
    logger,
    metrics: noMetrics,
    beginsAfterMs: 0,
    page: PAGE_SIZE,
    elapsed: () => elapsed,
    rest: async (ms) => void rests.push(ms),
    ...parts,
  });
  return { job, rechecks, checked, rests };
}

const readShipment = async (id: string) => (await api.call('GET', `/v1/shipments/${id}`, { key })).body;
const readStored = (id: string) => api.storage.eventStore.read(id.replace('shp_', 'shipment-'));

/** Returns the announced events of all shipments, oldest first, after all stored events were announced. */
async function listAnnounced(): Promise<readonly JsonObject[]> {
  await api.dependencies.events.waitUntilPositionReached(String(await api.head()), 60_000);
  const { status, body } = await api.call('GET', '/v1/events?limit=100', { key });
  expect([status, body['has_more']]).toEqual([200, false]);
  return body['data'] as JsonObject[];
}

const readRecheck = async () => (await api.call('GET', '/v1/settings', { key })).body['recheck'];
const run = ({ job }: { readonly job: ShipmentRecheckJob }, ending = new AbortController().signal) =>
  job.recheckShipmentsOfAllWorkspaces(ending);

describe('the re-check after a release with other rules', () => {
  it('changes each shipment whose status differs, and announces each change once', async () => {
    const before = await listAnnounced();
    const stored = await Promise.all(ids.map(readStored));
    for (const id of ids) expect(await readShipment(id)).toMatchObject({ status: 'arrived', ata: expect.any(String) });

    await run(await startProcess());

    const announced = await listAnnounced();
    expect(announced.slice(0, before.length)).toEqual(before);
    const updates = announced.slice(before.length).filter(({ type }) => type === 'shipment.updated');
    expect(updates.map(({ data }) => (data as JsonObject)['shipment_id']).toSorted()).toEqual(
      ids.filter((id) => id !== unchanged),
    );
    for (const { data } of updates) {
      expect(data).toMatchObject({ changes: { status: { from: 'arrived', to: 'in_transit' }, ata: { to: null } } });
    }
    for (const [index, id] of ids.entries()) {
      const events = stored[index] ?? [];
      expect((await readStored(id)).slice(0, events.length)).toEqual(events);
      const expected = id === unchanged ? { status: 'arrived' } : { status: 'in_transit', ata: null };
      expect(await readShipment(id)).toMatchObject(expected);
    }

    const head = await api.head();
    const later = await startProcess();
    await run(later);
    expect([later.checked, await api.head()]).toEqual([[], head]);
  });

  it('is paced, and continues after a restart with the shipments that were not checked', async () => {
    const ending = new AbortController();
    const first = await startProcess();
    const stopping = await startProcess({
      rechecks: {
        listUnfinishedRechecks: (after, limit) => first.rechecks.listUnfinishedRechecks(after, limit),
        storeRecheckProgress: async (recheck, progress) => {
          const advanced = await first.rechecks.storeRecheckProgress(recheck, progress);
          if (progress.checked >= PAGE_SIZE) ending.abort();
          return advanced;
        },
      },
    });
    await run(stopping, ending.signal);
    expect(stopping.checked).toEqual(ids.slice(0, PAGE_SIZE));
    expect(await readRecheck()).toMatchObject({ state: 'running', checked: PAGE_SIZE });

    const restarted = await startProcess();
    await run(restarted);
    expect(restarted.checked).toEqual(ids.slice(PAGE_SIZE));
    expect(await readRecheck()).toMatchObject({ state: 'done', checked: ids.length });
    // Checks take at most a quarter of the time, so the job rests three times as long.
    const rested = [...stopping.rests, ...restarted.rests].reduce((sum, ms) => sum + ms, 0);
    expect(rested).toBeGreaterThanOrEqual(3 * CHECK_MS * ids.length);
    const updates = (await listAnnounced()).filter(
      ({ type, data }) =>
        type === 'shipment.updated' && JSON.stringify((data as JsonObject)['changes']).includes('"from":"arrived"'),
    );
    expect(updates).toHaveLength(ids.length - 1);
  });

  it('announces a change once if a process crashes before it stores its progress', async () => {
    const first = await startProcess();
    const crashing = await startProcess({
      rechecks: {
        listUnfinishedRechecks: (after, limit) => first.rechecks.listUnfinishedRechecks(after, limit),
        storeRecheckProgress: async (recheck, progress) => {
          if (progress.checked > 0) throw new Error('the process crashed');
          return first.rechecks.storeRecheckProgress(recheck, progress);
        },
      },
    });
    await expect(run(crashing)).rejects.toThrow('the process crashed');
    const changed = await Promise.all(ids.map(readStored));
    const restarted = await startProcess();
    await run(restarted);
    expect(restarted.checked).toEqual(ids);
    for (const [index, id] of ids.slice(0, PAGE_SIZE).entries()) expect(await readStored(id)).toEqual(changed[index]);
  });
});
