import { UnavailableError } from '@tracking/ports';
import { captureRefusal } from '../test/replicas.ts';
import { IdentityTestHarness } from '../test/identity-test-harness.ts';
import { delayStoreResults } from '../test/storage.ts';
import { ACCESS_TO_ALL_KEYS } from './index.ts';
import type { AccessToApiKeys, IdentityServices } from './index.ts';

describe('API keys', () => {
  let harness: IdentityTestHarness;
  let identity: IdentityServices;
  beforeAll(async () => {
    harness = await IdentityTestHarness.openIdentityHarness();
    identity = await harness.openIdentityServicesForTest();
  });
  afterAll(() => harness.closeIdentityHarness());
  beforeEach(() => harness.createWorkspaceForTest(identity));

  const all = async () =>
    (await identity.keys.listKeys(harness.workspace_id, ACCESS_TO_ALL_KEYS, { limit: 200 })).items;
  const at = (ms: number) => new Date(harness.now + ms).toISOString();

  describe('of users', () => {
    it('has the present permissions of the user', async () => {
      const { id } = await harness.createUser(identity, 'developer');
      const made = await harness.createKey(identity, { type: 'user', id });
      expect(made).toMatchObject({ owner: { type: 'user', id }, role: 'developer' });
      expect(await identity.authenticateKey(made.key)).toMatchObject({
        type: 'user_key',
        credential_id: made.id,
        actor: { type: 'user', id },
      });
    });

    it('are not created for users of another workspace', async () => {
      const { id } = await harness.createUser(identity);
      const { id: workspace_id } = await identity.workspaces.createWorkspace(`other of ${harness.workspace_id}`);
      const request = { name: 'x', environment: 'live', owner: { type: 'user', id } } as const;
      const creating = identity.keys.createKey(
        harness.createSampleIdentityCommand({ workspace_id }),
        ACCESS_TO_ALL_KEYS,
        request,
      );
      expect((await captureRefusal(creating)).code).toBe('not_found');
    });
  });

  describe('creation', () => {
    it('creates one key however often the command is repeated, on any replica, and returns it again', async () => {
      const { id } = await harness.createServiceAccount(identity);
      const command = harness.createSampleIdentityCommand();
      const request = { name: 'x', environment: 'test', owner: { type: 'service_account', id } } as const;
      const replicas = [
        identity,
        await harness.openIdentityServicesForTest(),
        await harness.openIdentityServicesForTest(),
      ];
      const made = await Promise.all(replicas.map((each) => each.keys.createKey(command, ACCESS_TO_ALL_KEYS, request)));
      expect(made[1]).toEqual(made[0]);
      expect(made[2]).toEqual(made[0]);
      expect(await all()).toHaveLength(1);
    });

    it('refuses expiry times in the past, and invalid names', async () => {
      const owner = { type: 'service_account', id: (await harness.createServiceAccount(identity)).id } as const;
      const over = await captureRefusal(harness.createKey(identity, owner, { expires_at: at(0) }));
      expect(over).toMatchObject({ code: 'validation_failed', details: [{ param: 'expires_at' }] });
      expect((await captureRefusal(harness.createKey(identity, owner, { name: ' ' }))).details[0]?.param).toBe('name');
      expect(
        (await captureRefusal(harness.createKey(identity, { type: 'service_account', id: 'sva_none' }))).code,
      ).toBe('not_found');
      expect(await all()).toEqual([]);
    });

    it('refuses a deactivated owner', async () => {
      const { id } = await harness.createServiceAccount(identity);
      await identity.serviceAccounts.deactivateServiceAccount(harness.createSampleIdentityCommand(), id);
      expect((await captureRefusal(harness.createKey(identity, { type: 'service_account', id }))).code).toBe(
        'user_not_active',
      );
    });
  });

  describe('number of valid keys', () => {
    const MAX = 25;
    const valid = async () =>
      (await all()).filter(({ revoked_at, expires_at }) => !revoked_at && (expires_at === null || expires_at > at(0)));
    const fill = async () => {
      const owner = { type: 'user', id: (await harness.createUser(identity)).id } as const;
      const keys = [];
      for (let count = 0; count < MAX; count += 1) keys.push(await harness.createKey(identity, owner));
      return { owner, keys, first: String(keys[0]?.id) };
    };

    it('has a maximum for each owner, which ended keys do not count towards', async () => {
      const { owner, first } = await fill();
      const refused = await captureRefusal(harness.createKey(identity, owner));
      expect([refused.code, refused.message]).toEqual([
        'too_many_keys',
        'The user has 25 valid keys, the maximum. Revoke one first.',
      ]);
      expect(await all()).toHaveLength(MAX);
      await harness.revokeKey(identity, { id: first });
      await harness.createKey(identity, owner, { expires_at: at(10_000) });
      expect((await captureRefusal(harness.createKey(identity, owner))).code).toBe('too_many_keys');
      harness.now += 10_000;
      await harness.createKey(identity, owner);
      await harness.createServiceAccountWithKey(identity);
      expect(await valid()).toHaveLength(MAX + 1);
    });

    it('is never exceeded by concurrent requests on several replicas', async () => {
      const replicas = [identity, await harness.openIdentityServicesForTest()];
      const owner = { type: 'service_account', id: (await harness.createServiceAccount(identity)).id } as const;
      for (let count = 0; count < MAX - 1; count += 1) await harness.createKey(identity, owner);
      const creating = Array.from({ length: 40 }, (_, index) =>
        harness.createKey(replicas[index % 2] ?? identity, owner),
      );
      const done = (await Promise.allSettled(creating)).filter(({ status }) => status === 'fulfilled');
      expect(await valid()).toHaveLength(MAX - 1 + done.length);
      expect(done.length).toBeLessThanOrEqual(1);
    });

    it('includes rotated keys during their grace period', async () => {
      const { owner, first } = await fill();
      const reach = { ...ACCESS_TO_ALL_KEYS, user_id: owner.id };
      expect(
        (await captureRefusal(identity.keys.rotateKey(harness.createSampleIdentityCommand(), reach, first, 1))).message,
      ).toBe('The user has 25 valid keys, the maximum. Revoke one first, or rotate without a grace period.');
      const { made } = await identity.keys.rotateKey(harness.createSampleIdentityCommand(), reach, first, 0);
      expect(await valid()).toHaveLength(MAX);
      await harness.revokeKey(identity, made);
      const second = (await valid())[0]?.id ?? '';
      await identity.keys.rotateKey(harness.createSampleIdentityCommand(), reach, second, 60);
      expect((await captureRefusal(harness.createKey(identity, owner))).code).toBe('too_many_keys');
    });

    it('does not refuse the repeat of a command that created a key', async () => {
      const owner = { type: 'user', id: (await harness.createUser(identity)).id } as const;
      const [command, request] = [
        harness.createSampleIdentityCommand(),
        { name: 'x', environment: 'live' as const, owner },
      ];
      const first = await identity.keys.createKey(command, ACCESS_TO_ALL_KEYS, request);
      for (let count = 1; count < MAX; count += 1) await harness.createKey(identity, owner);
      expect(await identity.keys.createKey(command, ACCESS_TO_ALL_KEYS, request)).toEqual(first);
    });
  });

  describe('rotation', () => {
    it('creates a key with the same owner and environment, and ends the old one after the grace period', async () => {
      const old = await harness.createServiceAccountWithKey(identity, 'feed', { environment: 'test' });
      const { made } = await identity.keys.rotateKey(
        harness.createSampleIdentityCommand(),
        ACCESS_TO_ALL_KEYS,
        old.id,
        60,
      );
      expect(made).toMatchObject({ owner: old.owner, environment: 'test', name: old.name, role: 'feed', version: 1 });
      expect(made.key).not.toBe(old.key);
      expect(
        await identity.keys.findAccessibleApiKeyOrThrow(harness.workspace_id, ACCESS_TO_ALL_KEYS, old.id),
      ).toMatchObject({
        rotated_to: made.id,
        expires_at: at(60_000),
        version: 2,
      });
      expect(await identity.authenticateKey(old.key)).toBeDefined();
      harness.now += 59_999;
      expect(await identity.authenticateKey(old.key)).toBeDefined();
      harness.now += 1;
      expect(await identity.authenticateKey(old.key)).toBeUndefined();
      expect(await identity.authenticateKey(made.key)).toBeDefined();
    });

    it('ends the old key immediately without a grace period', async () => {
      const old = await harness.createServiceAccountWithKey(identity);
      expect(await identity.authenticateKey(old.key)).toBeDefined();
      await identity.keys.rotateKey(harness.createSampleIdentityCommand(), ACCESS_TO_ALL_KEYS, old.id, 0);
      expect(await identity.authenticateKey(old.key)).toBeUndefined();
    });

    it('does not prolong a key: the new key has the same expiry', async () => {
      const old = await harness.createServiceAccountWithKey(identity, 'feed', { expires_at: at(30_000) });
      const { made } = await identity.keys.rotateKey(
        harness.createSampleIdentityCommand(),
        ACCESS_TO_ALL_KEYS,
        old.id,
        60,
      );
      expect(made.expires_at).toBe(old.expires_at);
      expect(
        (await identity.keys.findAccessibleApiKeyOrThrow(harness.workspace_id, ACCESS_TO_ALL_KEYS, old.id)).expires_at,
      ).toBe(old.expires_at);
    });

    it.each<[string, (id: string) => Promise<unknown>]>([
      ['rotated', (id) => identity.keys.rotateKey(harness.createSampleIdentityCommand(), ACCESS_TO_ALL_KEYS, id, 60)],
      ['revoked', (id) => harness.revokeKey(identity, { id })],
      ['expired', async () => (harness.now += 10_000)],
    ])('refuses a key that is %s', async (_how, end) => {
      const { id } = await harness.createServiceAccountWithKey(identity, 'feed', { expires_at: at(10_000) });
      await end(id);
      const before = await all();
      expect(
        (
          await captureRefusal(
            identity.keys.rotateKey(harness.createSampleIdentityCommand(), ACCESS_TO_ALL_KEYS, id, 0),
          )
        ).code,
      ).toBe('key_not_active');
      expect(await all()).toEqual(before);
    });

    it('succeeds for one of two concurrent requests, and leaves nothing of the other', async () => {
      const old = await harness.createServiceAccountWithKey(identity);
      const other = await harness.openIdentityServicesForTest();
      const outcomes = await Promise.allSettled(
        [identity, other].map((each) =>
          each.keys.rotateKey(harness.createSampleIdentityCommand(), ACCESS_TO_ALL_KEYS, old.id, 0),
        ),
      );
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const keys = await all();
      expect(keys).toHaveLength(2);
      const now = await identity.keys.findAccessibleApiKeyOrThrow(harness.workspace_id, ACCESS_TO_ALL_KEYS, old.id);
      expect(keys.map(({ id }) => id)).toContain(now.rotated_to);
    });

    it.each(['insert', 'claim'] as const)(
      'is completed by a repeat if the process ended after its %s',
      async (last) => {
        const old = await harness.createServiceAccountWithKey(identity);
        let isDown = false;
        const down = async () => {
          if (isDown) throw new UnavailableError('document store', 'is gone');
        };
        const ending = await harness.openIdentityServicesForTest(
          delayStoreResults(down, harness.storage.documentStore, [last]),
        );
        isDown = true;
        const command = harness.createSampleIdentityCommand();
        await expect(ending.keys.rotateKey(command, ACCESS_TO_ALL_KEYS, old.id, 0)).rejects.toThrow(UnavailableError);
        const first = await identity.keys.rotateKey(command, ACCESS_TO_ALL_KEYS, old.id, 0);
        const again = await (
          await harness.openIdentityServicesForTest()
        ).keys.rotateKey(command, ACCESS_TO_ALL_KEYS, old.id, 0);
        expect(again.made).toEqual(first.made);
        expect(await identity.authenticateKey(again.made.key)).toBeDefined();
        expect(await identity.authenticateKey(old.key)).toBeUndefined();
        expect(await all()).toHaveLength(2);
        isDown = false;
      },
    );

    it('returns the same result again, whatever happened to the old key since', async () => {
      const old = await harness.createServiceAccountWithKey(identity);
      const command = harness.createSampleIdentityCommand({ if_match: [1] });
      const first = await identity.keys.rotateKey(command, ACCESS_TO_ALL_KEYS, old.id, 600);
      await harness.revokeKey(identity, old);
      const again = await identity.keys.rotateKey(command, ACCESS_TO_ALL_KEYS, old.id, 600);
      expect(again.made).toEqual(first.made);
      expect(await all()).toHaveLength(2);
    });

    it('refuses another version than the expected one, and creates nothing', async () => {
      const old = await harness.createServiceAccountWithKey(identity);
      const rotating = identity.keys.rotateKey(
        harness.createSampleIdentityCommand({ if_match: [2, 3] }),
        ACCESS_TO_ALL_KEYS,
        old.id,
        0,
      );
      expect((await captureRefusal(rotating)).code).toBe('precondition_failed');
      expect(await all()).toHaveLength(1);
    });
  });

  describe('lists', () => {
    it('are paged, newest first, and contain only keys within reach', async () => {
      const [me, other] = [(await harness.createUser(identity)).id, (await harness.createUser(identity)).id];
      const names: string[] = [];
      for (let index = 0; index < 9; index += 1) {
        harness.now += 1_000;
        const owner = { type: 'user', id: index % 3 === 0 ? other : me } as const;
        await harness.createKey(identity, owner, { name: `key ${index}`, environment: index === 4 ? 'test' : 'live' });
        if (index % 3 !== 0) names.unshift(`key ${index}`);
      }
      const own: AccessToApiKeys = { ...ACCESS_TO_ALL_KEYS, user_id: me, service_accounts: 'none', other_users: false };
      expect(await pages(own)).toEqual(names);
      // Includes keys of service accounts, so that no index can select the requested ones.
      expect(await pages({ ...own, service_accounts: 'all' })).toEqual(names);
      expect(await pages({ ...own, environments: ['test'] })).toEqual(['key 4']);
      expect(await pages(ACCESS_TO_ALL_KEYS)).toHaveLength(9);
    });

    async function pages(reach: AccessToApiKeys): Promise<readonly string[]> {
      const names: string[] = [];
      let after: readonly string[] | undefined;
      for (;;) {
        const page = await identity.keys.listKeys(harness.workspace_id, reach, { limit: 2, ...(after && { after }) });
        expect(page.items.length).toBeLessThanOrEqual(2);
        names.push(...page.items.map(({ name }) => name));
        if (page.next === null) return names;
        after = page.next;
      }
    }

    it('never contain anything that reveals a key', async () => {
      const { key } = await harness.createServiceAccountWithKey(identity);
      const text = JSON.stringify(await all());
      expect(text).not.toContain(key.slice(12, -4));
      expect(text).not.toMatch(/hash|changed_|[0-9a-f]{64}/);
    });
  });
});
