import type { JsonObject } from '@tracking/contracts';
import type { EmbeddedSqliteEngine } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import type { Document, DocumentStore } from '@tracking/ports';
import { createTempFolder } from '@tracking/testing';
import { delayStoreReads } from '../test/gated-store.ts';
import { type RequestedShipmentRecheck, WorkspaceSettingsStore } from './index.ts';

const AT = '2026-03-01T12:00:00.000Z';
const LATER = '2026-03-01T12:00:06.000Z';
const LAST = '2026-03-01T12:01:00.000Z';
const BEFORE = { exceptions: {}, required_documents: {}, version: 1, updated_at: null, updated_by: null };

let folder: Awaited<ReturnType<typeof createTempFolder>>;
let engine: EmbeddedSqliteEngine;
beforeEach(async () => {
  folder = await createTempFolder();
  engine = await openTestEngine(folder.path);
});
afterEach(async () => {
  await engine.closeEngine();
  await folder.remove();
});

const open = (documentStore: DocumentStore = engine.documentStore) =>
  WorkspaceSettingsStore.openWorkspaceSettings({ documentStore });
const slower = (after_hours: number): JsonObject => ({ exceptions: { eta_slip: { after_hours } } });
let commands = 0;
const change = (settings: WorkspaceSettingsStore, patch: JsonObject, workspace_id = 'wsp_1') =>
  settings.changeSettings({
    id: `command ${(commands += 1)}`,
    at: AT,
    actor: { type: 'user', id: 'usr_1' },
    workspace_id,
    patch,
  });

const running = (after: string | null, checked: number) => ({ after, checked, isDone: false, at: LATER });
const done = (checked: number) => ({ after: null, checked, isDone: true, at: LAST });
const PENDING = { state: 'pending', checked: 0, started_at: null, finished_at: null };

async function only({ rechecks }: WorkspaceSettingsStore): Promise<RequestedShipmentRecheck> {
  const [recheck, ...others] = await rechecks.listUnfinishedRechecks(undefined, 10);
  if (recheck === undefined || others.length > 0) throw new Error(`not one alone: ${recheck?.workspace_id}`);
  return recheck;
}

/** Returns the recheck as a job would advance it. */
async function advanced(
  { rechecks }: WorkspaceSettingsStore,
  from: RequestedShipmentRecheck,
  to: Parameters<typeof rechecks.storeRecheckProgress>[1],
) {
  const recheck = await rechecks.storeRecheckProgress(from, to);
  if (recheck === undefined) throw new Error('somebody else was first');
  return recheck;
}

describe('a requested recheck', () => {
  it('is pending even if the settings did not change, and leaves them as they are', async () => {
    const settings = await open();
    await settings.rechecks.requestRecheck('wsp_1');
    const recheck = await only(settings);
    expect(recheck).toMatchObject({ workspace_id: 'wsp_1', version: 1, isRunning: false, after: null, checked: 0 });
    const { recheck: told, ...rest } = await settings.getWorkspaceSettings('wsp_1');
    const { recheck: _, ...defaults } = await settings.getWorkspaceSettings('wsp_2');
    expect([told, rest]).toEqual([PENDING, defaults]);
    expect((await change(settings, slower(30))).after).toMatchObject({ version: 2 });
    expect((await only(settings)).version).toBe(2);
  });

  it('restarts a running or finished recheck, and discards earlier progress', async () => {
    const settings = await open();
    await change(settings, slower(30));
    const begun = await advanced(settings, await only(settings), running('shp_a', 5));
    await settings.rechecks.requestRecheck('wsp_1');
    expect(await settings.rechecks.storeRecheckProgress(begun, done(9))).toBeUndefined();
    const again = await only(settings);
    expect(again).toMatchObject({ version: 2, isRunning: false, after: null, checked: 0 });
    expect(again.step).not.toBe(begun.step);
    await advanced(settings, again, done(9));
    await settings.rechecks.requestRecheck('wsp_1');
    expect(await only(settings)).toMatchObject({ version: 2, isRunning: false, checked: 0 });
    expect((await settings.getWorkspaceSettings('wsp_1')).exceptions.eta_slip.after_hours).toBe(30);
  });

  it('remembers the rules for which all workspaces were rechecked', async () => {
    const { rechecks } = await open();
    expect(await rechecks.readRecheckedRulesVersion()).toBeUndefined();
    await rechecks.storeRecheckedRulesVersion('1 a');
    await rechecks.storeRecheckedRulesVersion('1 b');
    expect(await (await open()).rechecks.readRecheckedRulesVersion()).toBe('1 b');
  });
});

describe('the list of unfinished rechecks', () => {
  it('is empty until settings change', async () => {
    const settings = await open();
    expect((await settings.getWorkspaceSettings('wsp_1')).recheck).toBeNull();
    await change(settings, slower(24));
    expect((await settings.getWorkspaceSettings('wsp_1')).recheck).toBeNull();
    expect(await settings.rechecks.listUnfinishedRechecks(undefined, 10)).toEqual([]);
  });

  it.each([slower(48), { required_documents: { ocean: ['photo'] } }])(
    'contains the workspace after the change to %j',
    async (patch) => {
      const settings = await open();
      const { before, after } = await change(settings, patch);
      expect(before).not.toHaveProperty('recheck');
      expect(after).toMatchObject({ version: 2, recheck: PENDING });
      expect(await settings.getWorkspaceSettings('wsp_1')).toEqual(after);
      expect(await only(await open())).toEqual({
        workspace_id: 'wsp_1',
        version: 2,
        step: 0,
        isRunning: false,
        after: null,
        checked: 0,
      });
    },
  );

  it('is stored with the change in one write', async () => {
    const documents = await engine.documentStore.collection<Document>({ name: 'workspace_settings', indexes: [] });
    await change(await open(), slower(48));
    expect(await documents.get('wsp_1')).toMatchObject({ version: 2, is_rechecking: true, recheck: PENDING });
  });

  it('lists every unfinished workspace by id, in pages', async () => {
    const settings = await open();
    for (const id of ['wsp_3', 'wsp_1', 'wsp_4', 'wsp_2', 'wsp_5']) await change(settings, slower(48), id);
    const [first] = await settings.rechecks.listUnfinishedRechecks(undefined, 1);
    await settings.rechecks.storeRecheckProgress(first!, done(0));
    const page = async (after?: string) =>
      (await settings.rechecks.listUnfinishedRechecks(after, 3)).map(({ workspace_id }) => workspace_id);
    expect(await page()).toEqual(['wsp_2', 'wsp_3', 'wsp_4']);
    expect(await page('wsp_4')).toEqual(['wsp_5']);
  });

  it('is empty if settings last changed before rechecks existed', async () => {
    const documents = await engine.documentStore.collection<Document>({ name: 'workspace_settings', indexes: [] });
    const former = { id: 'wsp_1', ...BEFORE, version: 2, updated_at: AT, changed_by: 'former', before: BEFORE };
    await documents.insert({ ...former, exceptions: { eta_slip: { after_hours: 48 } } } as Document);
    const settings = await open();
    expect(await settings.getWorkspaceSettings('wsp_1')).toMatchObject({
      version: 2,
      updated_at: AT,
      exceptions: { eta_slip: { after_hours: 48 } },
      recheck: null,
    });
    expect(await settings.rechecks.listUnfinishedRechecks(undefined, 10)).toEqual([]);
    expect((await change(settings, slower(72))).after).toMatchObject({ version: 3, recheck: PENDING });
    expect((await only(settings)).version).toBe(3);
  });
});

describe('recheck progress', () => {
  it('is returned as stored, and changes nothing else', async () => {
    const settings = await open();
    const { recheck: pending, ...decided } = (await change(settings, slower(48))).after;
    const shown = async () => {
      const { recheck, ...rest } = await settings.getWorkspaceSettings('wsp_1');
      expect(rest).toEqual(decided);
      return recheck;
    };
    expect(await shown()).toEqual(pending);
    const begun = await advanced(settings, await only(settings), running(null, 0));
    expect(await shown()).toEqual({ state: 'running', checked: 0, started_at: LATER, finished_at: null });
    const further = await advanced(settings, begun, { ...running('shp_b', 2), at: LAST });
    expect(further).toMatchObject({ isRunning: true, after: 'shp_b', checked: 2 });
    expect(await only(await open())).toEqual(further);
    expect(await shown()).toEqual({ state: 'running', checked: 2, started_at: LATER, finished_at: null });
    await advanced(settings, further, done(3));
    expect(await shown()).toEqual({ state: 'done', checked: 3, started_at: LATER, finished_at: LAST });
    expect(await settings.rechecks.listUnfinishedRechecks(undefined, 10)).toEqual([]);
  });

  it('restarts with a change of the settings, even after it finished', async () => {
    const settings = await open();
    await change(settings, slower(48));
    const begun = await advanced(settings, await only(settings), running('shp_b', 2));
    expect((await change(settings, slower(72))).after).toMatchObject({ version: 3, recheck: PENDING });
    expect(await settings.rechecks.storeRecheckProgress(begun, running('shp_c', 3))).toBeUndefined();
    expect(await only(settings)).toMatchObject({ version: 3, isRunning: false, after: null, checked: 0 });
    await advanced(settings, await only(settings), done(7));
    expect((await change(settings, slower(96))).after).toMatchObject({ version: 4, recheck: PENDING });
    expect(await only(settings)).toMatchObject({ version: 4, isRunning: false });
  });

  it('is not affected by a repeat of the last command', async () => {
    const settings = await open();
    const command = { id: 'one', at: AT, actor: { type: 'user', id: 'usr_1' }, workspace_id: 'wsp_1' } as const;
    const first = await settings.changeSettings({ ...command, patch: slower(48) });
    await advanced(settings, await only(settings), running('shp_b', 2));
    const again = await settings.changeSettings({ ...command, patch: slower(48) });
    expect(again.before).toEqual(first.before);
    expect(again.after).toMatchObject({ version: 2, recheck: { state: 'running', checked: 2 } });
    expect((await only(settings)).after).toBe('shp_b');
  });

  it('is advanced by only one of several jobs', async () => {
    const settings = await open();
    await change(settings, slower(48));
    const recheck = await only(settings);
    const jobs = Array.from({ length: 10 }, (_, job) =>
      settings.rechecks.storeRecheckProgress(recheck, running(`shp_${job}`, job)),
    );
    const won = (await Promise.all(jobs)).filter((each) => each !== undefined);
    expect(won).toEqual([await only(settings)]);
  });
});

/** Each write of the job, from the first to the last. */
const STEPS = [running(null, 0), running('shp_b', 2), running('shp_d', 4), done(5)];

describe.each(STEPS.map((_, step) => step))('a change by a user during step %d of the job', (step) => {
  let settings: WorkspaceSettingsStore;
  let recheck: RequestedShipmentRecheck;
  beforeEach(async () => {
    settings = await open();
    await change(settings, slower(48));
    recheck = await only(settings);
    for (const to of STEPS.slice(0, step)) recheck = await advanced(settings, recheck, to);
  });

  /** Runs `meanwhile` after the first operation on the store has read and before it writes. */
  async function amid(meanwhile: () => Promise<unknown>): Promise<WorkspaceSettingsStore> {
    let isFirst = true;
    const gate = async () => {
      if (!isFirst) return;
      isFirst = false;
      await meanwhile();
    };
    return open(delayStoreReads(engine.documentStore, gate));
  }

  it('keeps a change made during the step, and restarts', async () => {
    const job = await amid(() => change(settings, { exceptions: { no_update: { after_hours: 7 } } }));
    expect(await job.rechecks.storeRecheckProgress(recheck, STEPS[step]!)).toBeUndefined();
    expect(await settings.getWorkspaceSettings('wsp_1')).toMatchObject({
      version: 3,
      exceptions: { eta_slip: { after_hours: 48 }, no_update: { after_hours: 7 } },
      recheck: PENDING,
    });
    expect(await only(settings)).toMatchObject({ version: 3, step: 0, isRunning: false, after: null });
  });

  it('discards a step that overlaps with a change', async () => {
    const user = await amid(() => advanced(settings, recheck, STEPS[step]!));
    await change(user, { exceptions: { no_update: { after_hours: 7 } } });
    expect(await settings.getWorkspaceSettings('wsp_1')).toMatchObject({
      version: 3,
      exceptions: { eta_slip: { after_hours: 48 }, no_update: { after_hours: 7 } },
      recheck: PENDING,
    });
    expect(await only(settings)).toMatchObject({ version: 3, step: 0, isRunning: false, after: null });
  });

  it('keeps a step that overlaps with a change without effect', async () => {
    const user = await amid(() => advanced(settings, recheck, STEPS[step]!));
    await change(user, slower(48));
    const state = STEPS[step]!.isDone ? 'done' : 'running';
    expect((await settings.getWorkspaceSettings('wsp_1')).recheck).toMatchObject({
      state,
      checked: STEPS[step]!.checked,
    });
  });
});
