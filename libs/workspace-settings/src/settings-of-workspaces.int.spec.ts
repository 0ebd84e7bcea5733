import { DomainError } from '@tracking/contracts';
import type { JsonObject } from '@tracking/contracts';
import type { EmbeddedSqliteEngine } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import { UnavailableError } from '@tracking/ports';
import type { DocumentStore } from '@tracking/ports';
import { createTempFolder, delayStoreReads } from '@tracking/testing';
import { delayStoreReads as gatedStore } from '../test/gated-store.ts';
import { WorkspaceSettingsStore } from './index.ts';

const AT = '2026-03-01T12:00:00.000Z';
const ADMIN = { type: 'user', id: 'usr_1' } as const;
const SLOWER: JsonObject = { exceptions: { eta_slip: { after_hours: 48 } } };

let folder: Awaited<ReturnType<typeof createTempFolder>>;
let engine: EmbeddedSqliteEngine;
let workspace_id: string;
let now: number;
let made = 0;

beforeAll(async () => {
  folder = await createTempFolder();
  engine = await openTestEngine(folder.path);
});
afterAll(async () => {
  await engine.closeEngine();
  await folder.remove();
});
beforeEach(() => {
  made += 1;
  workspace_id = `wsp_${made}`;
  now = 0;
});

const replica = (documentStore: DocumentStore = engine.documentStore) =>
  WorkspaceSettingsStore.openWorkspaceSettings({ documentStore, elapsed: () => now });
const command = (id: string, patch: JsonObject, more: object = {}) => ({
  id,
  at: AT,
  actor: ADMIN,
  workspace_id,
  patch,
  ...more,
});
const codeOf = (outcome: Promise<unknown>) =>
  outcome.then(
    () => 'done',
    (error: unknown) => (error instanceof DomainError ? error.code : String(error)),
  );

const behind = (gate: () => Promise<void>) => gatedStore(engine.documentStore, gate);

describe('settings of a workspace', () => {
  it('are the defaults until a change', async () => {
    const settings = await replica();
    const found = await settings.getWorkspaceSettings(workspace_id);
    expect(found).toMatchObject({ version: 1, updated_at: null, updated_by: null });
    expect(found.exceptions.eta_slip).toEqual({
      enabled: true,
      after_hours: 24,
      by_mode: { air: 4, road: 4 },
      before_hours: null,
      severity: 'medium',
    });
    expect(found.required_documents.ocean).toEqual([]);
  });

  it('store version, time and actor of a change', async () => {
    const settings = await replica();
    const { before, after } = await settings.changeSettings(command('one', SLOWER));
    expect(before).toMatchObject({ version: 1, exceptions: { eta_slip: { after_hours: 24 } } });
    expect(after).toMatchObject({
      version: 2,
      updated_at: AT,
      updated_by: ADMIN,
      exceptions: { eta_slip: { after_hours: 48, by_mode: { air: 4, road: 4 } } },
    });
    expect(await (await replica()).getWorkspaceSettings(workspace_id)).toEqual(after);
  });

  it('are independent for each workspace', async () => {
    const settings = await replica();
    await settings.changeSettings(command('one', SLOWER));
    expect(await settings.getWorkspaceSettings('wsp_other')).toMatchObject({ version: 1 });
  });

  it('a change without effect writes nothing', async () => {
    const settings = await replica();
    await settings.changeSettings(command('one', { exceptions: { eta_slip: { after_hours: 24 } } }));
    expect(await settings.getWorkspaceSettings(workspace_id)).toMatchObject({ version: 1, updated_at: null });
    const { after } = await settings.changeSettings(command('two', SLOWER));
    const again = await settings.changeSettings({ ...command('three', SLOWER), at: '2026-03-02T12:00:00.000Z' });
    const { recheck, ...before } = after;
    expect(again).toEqual({ before, after: { ...before, recheck } });
  });

  it('a repeated command returns the same result, whatever version it expects', async () => {
    const settings = await replica();
    await settings.changeSettings(command('one', SLOWER));
    const change = command('two', { exceptions: { eta_slip: { severity: 'low' } } }, { if_match: [2] });
    const first = await settings.changeSettings(change);
    expect(first.after.version).toBe(3);
    expect(await (await replica()).changeSettings(change)).toEqual(first);
    expect(await settings.getWorkspaceSettings(workspace_id)).toEqual(first.after);
  });

  it('a change with another version is refused', async () => {
    const settings = await replica();
    expect(await codeOf(settings.changeSettings(command('one', SLOWER, { if_match: [2, 3] })))).toBe(
      'precondition_failed',
    );
    expect(await codeOf(settings.changeSettings(command('two', SLOWER, { if_match: [1, 7] })))).toBe('done');
    expect(await codeOf(settings.changeSettings(command('three', SLOWER, { if_match: [] })))).toBe(
      'precondition_failed',
    );
    expect((await settings.getWorkspaceSettings(workspace_id)).version).toBe(2);
  });

  it('a patch with an invalid field changes nothing', async () => {
    const settings = await replica();
    const patch = { exceptions: { eta_slip: { after_hours: 48 }, no_update: { after_hours: 0 } } };
    const refused = await settings.changeSettings(command('one', patch)).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'validation_failed',
      details: [{ param: 'exceptions.no_update.after_hours', code: 'invalid_value' }],
    });
    expect((await settings.getWorkspaceSettings(workspace_id)).version).toBe(1);
  });

  it('no concurrent change is lost', async () => {
    const [here, there] = await Promise.all([replica(), replica()]);
    const modes = ['ocean', 'air', 'road', 'rail', 'barge', 'courier'];
    await Promise.all(
      modes.map((mode, at) => {
        const patch = { exceptions: { eta_slip: { by_mode: { [mode]: 10 + at } } } };
        return (at % 2 === 0 ? here : there).changeSettings(command(mode, patch));
      }),
    );
    const { version, exceptions } = await (await replica()).getWorkspaceSettings(workspace_id);
    expect(version).toBe(1 + modes.length);
    expect(exceptions.eta_slip.by_mode).toEqual({ ocean: 10, air: 11, road: 12, rail: 13, barge: 14, courier: 15 });
  });

  it('no concurrent change is lost if reads lag behind writes', async () => {
    const settings = await replica(delayStoreReads(engine.documentStore));
    const hours = [41, 42, 43, 44, 45, 46, 47, 48];
    const changes = hours.map((after_hours) => ({ exceptions: { eta_slip: { after_hours } } }));
    await Promise.all(changes.map((patch, index) => settings.changeSettings(command(`change ${index}`, patch))));
    expect((await settings.getWorkspaceSettings(workspace_id)).version).toBe(1 + hours.length);
  });

  it('only one of several changes that expect the same version succeeds', async () => {
    const settings = await replica();
    const hours = [30, 31, 32, 33, 34];
    const outcomes = await Promise.all(
      hours.map((after_hours) =>
        codeOf(
          settings.changeSettings(
            command(String(after_hours), { exceptions: { eta_slip: { after_hours } } }, { if_match: [1] }),
          ),
        ),
      ),
    );
    expect(outcomes.sort()).toEqual(['done', ...hours.slice(1).map(() => 'precondition_failed')]);
  });
});

describe('settings for writes', () => {
  it('a change is visible within five seconds everywhere, and immediately where it was made', async () => {
    const [here, there] = await Promise.all([replica(), replica()]);
    for (const one of [here, there]) expect((await one.getCachedSettings(workspace_id)).version).toBe(1);
    await here.changeSettings(command('one', SLOWER));
    expect((await here.getCachedSettings(workspace_id)).version).toBe(2);
    now += 4_999;
    expect((await there.getCachedSettings(workspace_id)).version).toBe(2);
  });

  it('a repeated change is visible immediately, even if another process made it', async () => {
    const [here, other] = await Promise.all([replica(), replica()]);
    expect((await here.getCachedSettings(workspace_id)).version).toBe(1);
    const change = command('one', SLOWER);
    await other.changeSettings(change);
    expect((await here.changeSettings(change)).after.version).toBe(2);
    expect((await here.getCachedSettings(workspace_id)).version).toBe(2);
  });

  it('the store is read once in three seconds', async () => {
    let reads = 0;
    const settings = await replica(behind(async () => void (reads += 1)));
    await Promise.all(Array.from({ length: 50 }, () => settings.getCachedSettings(workspace_id)));
    now += 2_999;
    await settings.getCachedSettings(workspace_id);
    expect(reads).toBe(1);
    now += 1;
    await settings.getCachedSettings(workspace_id);
    expect(reads).toBe(2);
  });

  it('the result of a slow look-up counts from its beginning', async () => {
    const gate = Promise.withResolvers<void>();
    const [slow, quick] = await Promise.all([replica(behind(() => gate.promise)), replica()]);
    const before = slow.getCachedSettings(workspace_id);
    await quick.changeSettings(command('one', SLOWER));
    now += 3_500;
    gate.resolve();
    expect((await before).version).toBe(1);
    expect((await slow.getCachedSettings(workspace_id)).version).toBe(2);
  });

  it('a look-up of more than four seconds fails', async () => {
    const gate = Promise.withResolvers<void>();
    const slow = await replica(behind(() => gate.promise));
    const late = slow.getCachedSettings(workspace_id);
    now += 4_001;
    gate.resolve();
    await expect(late).rejects.toBeInstanceOf(UnavailableError);
  });

  it('a look-up that began before a change does not hide it', async () => {
    const gate = Promise.withResolvers<void>();
    let reads = 0;
    const settings = await replica(behind(() => (reads++ === 0 ? gate.promise : Promise.resolve())));
    const early = settings.getCachedSettings(workspace_id);
    await settings.changeSettings(command('one', SLOWER));
    gate.resolve();
    await early;
    expect((await settings.getCachedSettings(workspace_id)).version).toBe(2);
  });

  it('an unresponsive store is reported, even if settings are cached', async () => {
    let isDown = false;
    const settings = await replica(
      behind(async () => {
        if (isDown) throw new UnavailableError('document store', 'gone');
      }),
    );
    expect((await settings.getCachedSettings(workspace_id)).version).toBe(1);
    isDown = true;
    now += 3_000;
    await expect(settings.getCachedSettings(workspace_id)).rejects.toBeInstanceOf(UnavailableError);
    isDown = false;
    expect((await settings.getCachedSettings(workspace_id)).version).toBe(1);
  });
});
