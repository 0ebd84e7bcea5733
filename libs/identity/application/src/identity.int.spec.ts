import { randomUUID } from 'node:crypto';
import { DomainError, USER_ROLES } from '@tracking/contracts';
import type { ApiKey, Environment, CreatedApiKeyWithSecret, Role } from '@tracking/contracts';
import type { DocumentStore } from '@tracking/ports';
import { delayStoreResults, openTestStorage } from '../test/storage.ts';
import type { TestStorage } from '../test/storage.ts';
import { ACCESS_TO_ALL_KEYS, IdentityServices, getPermissionsOfRole } from './index.ts';
import type { IdentityCommand } from './index.ts';

const START = Date.parse('2026-03-01T12:00:00.000Z');
const SECRET = Buffer.alloc(32, 5);
const CLI = { type: 'system', id: 'administration' } as const;

describe('identity', () => {
  let storage: TestStorage;
  let now: number;
  let replicas: IdentityServices[];
  const logged: string[] = [];
  const note = (fields: object, message: string) => void logged.push(JSON.stringify({ fields, message }));

  beforeEach(async () => {
    storage = await openTestStorage();
    now = START;
    replicas = [];
    logged.length = 0;
  });
  afterEach(async () => {
    await Promise.all(replicas.map((replica) => replica.closeIdentityAfterPendingWrites()));
    await storage.close();
  });

  async function replica(documentStore: DocumentStore = storage.documentStore): Promise<IdentityServices> {
    const identity = await IdentityServices.openIdentity({
      documentStore,
      clock: () => new Date(now),
      elapsed: () => now,
      secret: SECRET,
      logger: { debug: note, info: note, warn: note, error: note },
    });
    replicas.push(identity);
    return identity;
  }
  async function workspaceId(identity: IdentityServices, name = 'default'): Promise<string> {
    return (await identity.workspaces.findWorkspaceByName(name))?.id ?? '';
  }
  async function newKey(identity: IdentityServices, role: Role = 'operator') {
    const workspace_id = await workspaceId(identity);
    return keyIn(identity, workspace_id, { role });
  }
  function command(workspace_id: string): IdentityCommand {
    return { id: randomUUID(), at: new Date(now).toISOString(), actor: CLI, workspace_id };
  }
  /** A service account and its key. */
  async function keyIn(
    identity: IdentityServices,
    workspace_id: string,
    { name = 'TMS', role = 'viewer', environment = 'live' }: { name?: string; role?: Role; environment?: Environment },
  ): Promise<CreatedApiKeyWithSecret> {
    const asked = command(workspace_id);
    const account = await identity.serviceAccounts.createServiceAccount(asked, { name, role });
    const owner = { type: 'service_account', id: account.after.id } as const;
    return (await identity.keys.createKey(asked, ACCESS_TO_ALL_KEYS, { name, environment, owner })).after;
  }
  async function revoke(identity: IdentityServices, workspace_id: string, id: string): Promise<ApiKey> {
    return (await identity.keys.revokeKey(command(workspace_id), ACCESS_TO_ALL_KEYS, id)).after;
  }
  async function refusal(outcome: Promise<unknown>): Promise<DomainError> {
    const error = await outcome.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(DomainError);
    return error as DomainError;
  }

  describe('workspaces', () => {
    it('create one default workspace at the first start, on any replica', async () => {
      const [first, second] = await Promise.all([replica(), replica()]);
      const third = await replica();
      const lists = await Promise.all([first, second, third].map((identity) => identity?.workspaces.listWorkspaces()));
      expect(lists[0]).toEqual([
        { id: expect.stringMatching(/^wsp_/), name: 'default', created_at: '2026-03-01T12:00:00.000Z' },
      ]);
      expect(lists[1]).toEqual(lists[0]);
      expect(lists[2]).toEqual(lists[0]);
    });

    it('are created, listed in order and found by name, regardless of case', async () => {
      const identity = await replica();
      now += 1_000;
      const acme = await identity.workspaces.createWorkspace('  Acme Logistics ');
      expect(acme).toEqual({ id: acme.id, name: 'Acme Logistics', created_at: '2026-03-01T12:00:01.000Z' });
      expect((await identity.workspaces.listWorkspaces()).map(({ name }) => name)).toEqual([
        'default',
        'Acme Logistics',
      ]);
      expect(await identity.workspaces.findWorkspaceByName('acme logistics')).toEqual(acme);
      expect(await identity.workspaces.findWorkspaceByName('acme')).toBeUndefined();
    });

    it('have unique names', async () => {
      const [first, second] = await Promise.all([replica(), replica()]);
      const outcomes = await Promise.allSettled(
        [first, second].map((identity) => identity?.workspaces.createWorkspace('Acme')),
      );
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect((await refusal(first.workspaces.createWorkspace('ACME'))).code).toBe('workspace_exists');
      expect((await refusal(first.workspaces.createWorkspace('Default'))).code).toBe('workspace_exists');
      expect(await first.workspaces.listWorkspaces()).toHaveLength(2);
    });

    it.each([
      ['  ', 'required'],
      ['x'.repeat(101), 'too_long'],
      ['a\nb', 'invalid_value'],
      ['a\u001b[31m', 'invalid_value'],
      ['a\ud800', 'invalid_value'],
    ])('refuse the name %j', async (name, code) => {
      const error = await refusal((await replica()).workspaces.createWorkspace(name));
      expect(error).toMatchObject({ code: 'validation_failed', details: [{ param: 'name', code }] });
    });
  });

  describe('keys', () => {
    it('belong to a service account with its own role', async () => {
      const identity = await replica();
      const created = await newKey(identity, 'feed');
      expect(created).toEqual({
        id: expect.stringMatching(/^key_[a-z2-7]{26}$/),
        workspace_id: await workspaceId(identity),
        name: 'TMS',
        environment: 'live',
        role: 'feed',
        max_role: null,
        owner: { type: 'service_account', id: expect.stringMatching(/^sva_[a-z2-7]{26}$/) },
        prefix: created.key.slice(0, 12),
        last_four: created.key.slice(-4),
        created_by: CLI,
        created_at: '2026-03-01T12:00:00.000Z',
        expires_at: null,
        last_used_at: null,
        revoked_at: null,
        rotated_to: null,
        version: 1,
        key: expect.stringMatching(/^sk_live_/),
      });
      expect(await identity.authenticateKey(created.key)).toEqual({
        type: 'service_account_key',
        credential_id: created.id,
        workspace_id: created.workspace_id,
        environment: 'live',
        actor: { type: 'service_account', id: created.owner.id },
        permissions: getPermissionsOfRole('feed', 'live'),
      });
    });

    it('have the permissions of their role in their environment', async () => {
      const identity = await replica();
      const workspace_id = await workspaceId(identity);
      for (const role of USER_ROLES) {
        for (const environment of ['live', 'test'] as const) {
          const { key } = await keyIn(identity, workspace_id, { name: role, environment, role });
          expect(key.startsWith(`sk_${environment}_`)).toBe(true);
          expect(await identity.authenticateKey(key)).toMatchObject({
            environment,
            permissions: getPermissionsOfRole(role, environment),
          });
        }
      }
    });

    it('are shown once and never stored', async () => {
      const identity = await replica();
      const created = await newKey(identity);
      const secret = created.key.slice('sk_live_'.length);
      await identity.authenticateKey(created.key);
      await identity.closeIdentityAfterPendingWrites();
      const list = await identity.keys.listWorkspaceKeys(created.workspace_id);
      const revoked = await revoke(identity, created.workspace_id, created.id);
      const shown = [JSON.stringify(list), JSON.stringify(revoked), logged.join('\n')];
      for (const text of [...shown, await storage.readAllFilesOfStorageFolder()]) {
        expect(text).not.toContain(secret);
        // Not even parts of a key are stored, except those that the list shows.
        expect(text).not.toContain(secret.slice(4, 24));
      }
      expect(JSON.stringify(list)).not.toMatch(/hash|[0-9a-f]{64}/);
    });

    it('are listed by workspace, oldest first, including revoked ones', async () => {
      const identity = await replica();
      const mine = await workspaceId(identity);
      const { id: other } = await identity.workspaces.createWorkspace('other');
      const names = [];
      for (let index = 0; index < 5; index += 1) {
        now += 1_000;
        const workspace_id = index === 2 ? other : mine;
        const name = `key ${index}`;
        const { id } = await keyIn(identity, workspace_id, { name, environment: 'test' });
        if (index === 1) await revoke(identity, mine, id);
        names.push(name);
      }
      const list = await identity.keys.listWorkspaceKeys(mine);
      expect(list.map(({ name }) => name)).toEqual(['key 0', 'key 1', 'key 3', 'key 4']);
      expect(list.map(({ revoked_at }) => revoked_at !== null)).toEqual([false, true, false, false]);
      expect((await identity.keys.listWorkspaceKeys(other)).map(({ name }) => name)).toEqual(['key 2']);
    });

    it('refuse an invalid name', async () => {
      const identity = await replica();
      const workspace_id = await workspaceId(identity);
      const error = await refusal(keyIn(identity, workspace_id, { name: '' }));
      expect(error).toMatchObject({ code: 'validation_failed', details: [{ param: 'name', code: 'required' }] });
      expect(await identity.keys.listWorkspaceKeys(workspace_id)).toEqual([]);
    });
  });

  describe('authentication', () => {
    it('refuses a malformed or unknown key', async () => {
      const identity = await replica();
      const { key } = await newKey(identity);
      const wrong = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
      for (const text of ['', 'Bearer', wrong, `${key} `, key.toLowerCase(), key.replace('live', 'test')]) {
        expect(await identity.authenticateKey(text)).toBeUndefined();
        expect(await identity.authenticateKey(text)).toBeUndefined();
      }
    });

    it('refuses a revoked key immediately where it was revoked', async () => {
      const identity = await replica();
      const { key, id, workspace_id } = await newKey(identity);
      expect(await identity.authenticateKey(key)).toBeDefined();
      expect(await revoke(identity, workspace_id, id)).toMatchObject({
        id,
        revoked_at: '2026-03-01T12:00:00.000Z',
      });
      expect(await identity.authenticateKey(key)).toBeUndefined();
    });

    it('refuses a revoked key within five seconds everywhere else', async () => {
      const [here, there] = await Promise.all([replica(), replica()]);
      const { key, id, workspace_id } = await newKey(here);
      expect(await there.authenticateKey(key)).toBeDefined();
      await revoke(here, workspace_id, id);
      now += 4_999;
      expect(await there.authenticateKey(key)).toBeUndefined();
    });

    it('does not look a key up again within seconds', async () => {
      let reads = 0;
      const counted = delayStoreResults(async () => void (reads += 1), storage.documentStore);
      const identity = await replica(counted);
      const { key } = await newKey(identity);
      const unknown = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
      reads = 0;
      for (const text of [key, unknown]) {
        await Promise.all(Array.from({ length: 50 }, () => identity.authenticateKey(text)));
        now += 2_000;
        await identity.authenticateKey(text);
      }
      expect(reads).toBe(2);
      now += 5_000;
      expect(await identity.authenticateKey(key)).toBeDefined();
      expect(reads).toBe(3);
    });

    it('trusts no look-up that began before the revocation', async () => {
      let open: () => void = () => undefined;
      let waiting: () => void = () => undefined;
      let gate = Promise.resolve();
      const waits = new Promise<void>((resolve) => (waiting = resolve));
      const slow = delayStoreResults(async () => {
        waiting();
        await gate;
      }, storage.documentStore);
      const identity = await replica(slow);
      const { key, id, workspace_id } = await newKey(await replica());
      gate = new Promise<void>((resolve) => (open = resolve));
      const early = identity.authenticateKey(key);
      await waits;
      const revoked = revoke(identity, workspace_id, id);
      expect(await revoked).toMatchObject({ id });
      open();
      await early;
      expect(await identity.authenticateKey(key)).toBeUndefined();
    });

    it('records the last use, at most once a minute', async () => {
      const identity = await replica();
      const { key, workspace_id } = await newKey(identity);
      const lastUse = async () => {
        await identity.closeIdentityAfterPendingWrites();
        return (await identity.keys.listWorkspaceKeys(workspace_id))[0]?.last_used_at;
      };
      expect(await lastUse()).toBeNull();
      await identity.authenticateKey(key);
      expect(await lastUse()).toBe('2026-03-01T12:00:00.000Z');
      now += 59_000;
      await identity.authenticateKey(key);
      expect(await lastUse()).toBe('2026-03-01T12:00:00.000Z');
      now += 5_000;
      await identity.authenticateKey(key);
      expect(await lastUse()).toBe('2026-03-01T12:01:04.000Z');
    });

    it('does not restore a revoked key when it records a use', async () => {
      const [here, there] = await Promise.all([replica(), replica()]);
      const { key, id, workspace_id } = await newKey(here);
      await Promise.all([there.authenticateKey(key), revoke(here, workspace_id, id)]);
      await there.closeIdentityAfterPendingWrites();
      now += 10_000;
      expect(await there.authenticateKey(key)).toBeUndefined();
      expect((await there.keys.listWorkspaceKeys(workspace_id))[0]?.revoked_at).toBe('2026-03-01T12:00:00.000Z');
    });
  });

  describe('revocation', () => {
    it('does not change when repeated', async () => {
      const identity = await replica();
      const { id, workspace_id } = await newKey(identity);
      const first = await revoke(identity, workspace_id, id);
      now += 60_000;
      expect(await revoke(identity, workspace_id, id)).toEqual(first);
    });

    it('does not find the keys of another workspace', async () => {
      const identity = await replica();
      const { key, id } = await newKey(identity);
      const other = await identity.workspaces.createWorkspace('other');
      expect((await refusal(revoke(identity, other.id, id))).code).toBe('not_found');
      expect((await refusal(revoke(identity, other.id, 'key_none'))).code).toBe('not_found');
      expect(await identity.authenticateKey(key)).toBeDefined();
    });
  });

  it('survives a restart', async () => {
    const { key, id } = await newKey(await replica());
    expect(await (await replica()).authenticateKey(key)).toMatchObject({ credential_id: id });
  });
});
