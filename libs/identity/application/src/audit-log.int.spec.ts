import { type Actor, AUDIT_TYPES } from '@tracking/contracts';
import type { Collection, CollectionSpec, Document } from '@tracking/ports';
import { BackgroundWorkThrottle } from '@tracking/resilience';
import { openTestStorage } from '../test/storage.ts';
import type { TestStorage } from '../test/storage.ts';
import { AuditLog } from './audit-log.ts';
import type { AuditedCommand } from './audit-log.ts';

const UNPACED = new BackgroundWorkThrottle({ share: 1 });
const DAY_MS = 24 * 60 * 60 * 1_000;
const START = Date.parse('2026-03-01T12:00:00.000Z');
const JO: Actor = { type: 'user', id: 'usr_jo' };
const SYSTEM: Actor = { type: 'system', id: 'administration' };

describe('the audit log', () => {
  let storage: TestStorage;
  let log: AuditLog;
  let names: Map<string, string>;
  let serial = 0;

  beforeEach(async () => {
    storage = await openTestStorage();
    names = new Map([['usr_jo', 'Jo']]);
    log = await AuditLog.openStoreOfAuditLog(storage.documentStore, async (actors) => {
      return new Map(actors.flatMap(({ id }) => (names.has(id) ? [[id, String(names.get(id))]] : [])));
    });
  });
  afterEach(() => storage.close());

  const command = (fields: Partial<AuditedCommand> = {}): AuditedCommand => ({
    command_id: `command ${(serial += 1)}`,
    at: new Date(START + serial).toISOString(),
    workspace_id: 'wsp_1',
    actor: JO,
    type: 'api_key.revoked',
    target_id: 'key_1',
    request_id: 'req_1',
    address: '203.0.113.7',
    ...fields,
  });
  const done = async (fields: Partial<AuditedCommand> = {}) => {
    await log.completeAuditEntry(await log.beginAuditEntry(command(fields)), null, {});
  };
  const list = async (filter: Parameters<AuditLog['listAuditEntries']>[1]['filter'] = {}, workspace = 'wsp_1') =>
    (await log.listAuditEntries(workspace, { filter, limit: 50 })).items;

  it("lists changes with their actors, under the actors' present names", async () => {
    const given = command({ type: 'api_key.created', target_id: null });
    const changes = { name: { from: null, to: 'TMS' } };
    await log.completeAuditEntry(await log.beginAuditEntry(given), 'key_7', changes);
    const { command_id: _, workspace_id: __, target_id: ___, ...told } = given;
    const entry = { ...told, id: expect.stringMatching(/^aud_[a-z2-7]{26}$/), changes, outcome: 'done' };
    const target = { type: 'api_key', id: 'key_7' };
    expect(await list()).toEqual([{ ...entry, target, actor: { ...JO, name: 'Jo' } }]);
    names.set('usr_jo', 'Joanna');
    expect((await list())[0]?.actor).toEqual({ ...JO, name: 'Joanna' });
    names.clear();
    expect((await list())[0]?.actor).toEqual({ ...JO, name: null });
  });

  it('has an entry before a change begins, with the outcome unknown until a repeat completes it', async () => {
    const given = command();
    await log.beginAuditEntry(given);
    // The process ends here.
    expect(await list()).toEqual([expect.objectContaining({ outcome: 'unknown', changes: {} })]);

    const repeated = await log.beginAuditEntry({ ...given, request_id: 'req_2' });
    expect(repeated.isRepeated).toBe(true);
    await log.completeAuditEntry(repeated, null, { status: { from: 'active', to: 'revoked' } });
    const entry = { outcome: 'done', request_id: 'req_1', changes: { status: { from: 'active', to: 'revoked' } } };
    expect(await list()).toEqual([expect.objectContaining(entry)]);

    // A further repeat does not discard known data.
    await log.completeAuditEntry(await log.beginAuditEntry(given), null, {});
    expect(await list()).toEqual([expect.objectContaining(entry)]);
  });

  it('has no entry for a refusal, unless an earlier attempt may have changed something', async () => {
    const refused = command();
    await log.withdrawAuditEntry(await log.beginAuditEntry(refused));
    expect(await list()).toEqual([]);

    await log.beginAuditEntry(refused);
    await log.withdrawAuditEntry(await log.beginAuditEntry(refused));
    expect(await list()).toEqual([expect.objectContaining({ outcome: 'unknown' })]);
  });

  it('is filtered and paged, newest first, within one workspace', async () => {
    await done({ type: 'user.invited' });
    await done({ actor: SYSTEM });
    await done({ workspace_id: 'wsp_2' });
    await done();
    await done({ actor: SYSTEM, type: 'user.invited' });
    const told = (await list()).map(({ actor, type }) => `${actor.id} ${type}`);
    const all = [
      'administration user.invited',
      'usr_jo api_key.revoked',
      'administration api_key.revoked',
      'usr_jo user.invited',
    ];
    expect(told).toEqual(all);
    expect(await list({ actor: 'usr_jo' })).toHaveLength(2);
    expect(await list({ types: ['user.invited'] })).toHaveLength(2);
    expect((await list({ types: ['api_key.revoked', 'user.invited'] })).map(({ id }) => id)).toEqual(
      (await list()).map(({ id }) => id),
    );
    expect(await list({ actor: 'administration', types: ['user.invited'] })).toHaveLength(1);
    expect(await list({}, 'wsp_2')).toHaveLength(1);
    expect(await list({}, 'wsp_3')).toEqual([]);

    const times = (await list()).map(({ at }) => at);
    expect((await list({ from: times[2] ?? '', to: times[1] ?? '' })).map(({ at }) => at)).toEqual(times.slice(1, 3));
    for (const filter of [
      { actor: 'usr_jo' },
      { types: ['user.invited'] },
      { actor: 'usr_jo', types: ['user.invited', 'api_key.created'] },
    ] as const) {
      expect(await list({ ...filter, from: times[3] ?? '', to: times[3] ?? '' })).toHaveLength(1);
    }

    const paged: string[] = [];
    let after: readonly string[] | undefined;
    do {
      const page = await log.listAuditEntries('wsp_1', { filter: {}, limit: 3, ...(after && { after }) });
      paged.push(...page.items.map(({ actor, type }) => `${actor.id} ${type}`));
      after = page.next ?? undefined;
    } while (after);
    expect(paged).toEqual(all);
  });

  it('reads few entries for a page of many types', async () => {
    const types = AUDIT_TYPES.slice(0, 12);
    const oldestFirst = types.toReversed().flatMap((type) => Array.from({ length: 8 }, () => type));
    for (const type of oldestFirst) await done({ type });
    let read = 0;
    const counting = {
      ...storage.documentStore,
      collection: async <T extends Document>(spec: CollectionSpec): Promise<Collection<T>> => {
        const collection = await storage.documentStore.collection<T>(spec);
        const find: Collection<T>['find'] = async (query) => {
          const found = await collection.find(query);
          read += found.length;
          return found;
        };
        return Object.assign(Object.create(collection) as Collection<T>, { find });
      },
    };
    const counted = await AuditLog.openStoreOfAuditLog(counting, () => Promise.resolve(new Map()));
    const { items } = await counted.listAuditEntries('wsp_1', { filter: { types }, limit: 10 });
    expect(items.map(({ type }) => type)).toEqual(oldestFirst.toReversed().slice(0, 10));
    expect(read).toBeLessThanOrEqual(2 * 11);
  });

  it('keeps entries for 400 days', async () => {
    for (let entry = 0; entry < 3; entry += 1) await done({ at: new Date(START).toISOString() });
    await done({ at: new Date(START + 1).toISOString(), type: 'user.invited' });
    const { signal } = new AbortController();
    await log.deleteExpiredAuditEntries(new Date(START + 400 * DAY_MS), signal, UNPACED);
    expect(await list()).toHaveLength(4);
    await log.deleteExpiredAuditEntries(new Date(START + 400 * DAY_MS + 1), signal, UNPACED);
    expect(await list()).toEqual([expect.objectContaining({ type: 'user.invited' })]);
  });
});
