import type { KeyOwner, CreatedApiKeyWithSecret, Principal } from '@tracking/contracts';
import { UnavailableError } from '@tracking/ports';
import type { DocumentStore } from '@tracking/ports';
import { IdentityTestHarness } from '../test/identity-test-harness.ts';
import { delayStoreResults } from '../test/storage.ts';
import { ACCESS_TO_ALL_KEYS, getPermissionsOfRole } from './index.ts';
import type { IdentityServices } from './index.ts';

/** State before a change: the permissions of an operator. */
const BEFORE = getPermissionsOfRole('operator', 'live');
const WITHIN_MS = 5_000;

interface Subject {
  readonly here: IdentityServices;
  readonly harness: IdentityTestHarness;
  readonly key: CreatedApiKeyWithSecret;
}
type Change = readonly [string, KeyOwner['type'], (subject: Subject) => Promise<unknown>];

const CHANGES: readonly Change[] = [
  ['a key that is revoked', 'user', ({ here, harness, key }) => harness.revokeKey(here, key)],
  [
    'a key that is rotated without a grace',
    'service_account',
    ({ here, harness, key }) =>
      here.keys.rotateKey(harness.createSampleIdentityCommand(), ACCESS_TO_ALL_KEYS, key.id, 0),
  ],
  [
    'a user whose role is changed',
    'user',
    ({ here, harness, key }) =>
      here.users.changeUser(harness.createSampleIdentityCommand(), key.owner.id, { role: 'viewer' }),
  ],
  [
    'a user who is deactivated',
    'user',
    ({ here, harness, key }) => here.users.deactivateUser(harness.createSampleIdentityCommand(), key.owner.id),
  ],
  [
    'a service account whose role is changed',
    'service_account',
    ({ here, harness, key }) =>
      here.serviceAccounts.changeServiceAccount(harness.createSampleIdentityCommand(), key.owner.id, {
        role: 'viewer',
      }),
  ],
  [
    'a service account that is deactivated',
    'service_account',
    ({ here, harness, key }) =>
      here.serviceAccounts.deactivateServiceAccount(harness.createSampleIdentityCommand(), key.owner.id),
  ],
];

describe('authentication', () => {
  let harness: IdentityTestHarness;
  let here: IdentityServices;
  beforeAll(async () => {
    harness = await IdentityTestHarness.openIdentityHarness();
    here = await harness.openIdentityServicesForTest();
  });
  afterAll(() => harness.closeIdentityHarness());

  /** A replica that runs this before each read returns. */
  const there = (onRead: () => Promise<void>): Promise<IdentityServices> => {
    const store: DocumentStore = delayStoreResults(onRead, harness.storage.documentStore, ['find', 'get', 'getMany']);
    return harness.openIdentityServicesForTest(store);
  };
  const isAsBefore = (principal: Principal | undefined) => principal?.permissions === BEFORE;

  describe.each(CHANGES)('of %s', (_what, type, change) => {
    const operatorsKey = async () => {
      if (type === 'service_account') return harness.createServiceAccountWithKey(here, 'operator');
      return harness.createKey(here, { type, id: (await harness.createUser(here, 'operator')).id });
    };

    // Two reads each: at more than 2,000 ms, no look-up is in time.
    it.each([0, 300, 1_500, 2_000])(
      'ends everywhere within five seconds, even if each read takes %d ms',
      async (takesMs) => {
        const key = await operatorsKey();
        let onRead = () => Promise.resolve();
        const remote = await there(() => onRead());
        expect(isAsBefore(await remote.authenticateKey(key.key))).toBe(true);

        harness.now += 3_000;
        let changedAt = 0;
        onRead = async () => {
          // The read state is older than the change.
          if (changedAt === 0) await change({ here, harness, key });
          changedAt ||= harness.now;
          harness.now += takesMs;
        };
        let asBefore: boolean;
        do {
          asBefore = isAsBefore(await remote.authenticateKey(key.key));
          if (asBefore) expect(harness.now - changedAt).toBeLessThanOrEqual(WITHIN_MS);
          harness.now += 250;
        } while (harness.now - changedAt < 3 * WITHIN_MS);
        expect(asBefore).toBe(false);
      },
    );

    it('ends immediately where it was changed', async () => {
      const key = await operatorsKey();
      expect(isAsBefore(await here.authenticateKey(key.key))).toBe(true);
      await change({ here, harness, key });
      expect(isAsBefore(await here.authenticateKey(key.key))).toBe(false);
    });
  });

  it('refuses the keys of an invited user', async () => {
    const command = harness.createSampleIdentityCommand();
    const { after } = await here.users.inviteUser(command, { email: 'ann@example.com', role: 'viewer' });
    const owner = { type: 'user', id: after.id } as const;
    await expect(harness.createKey(here, owner)).rejects.toMatchObject({ code: 'user_not_active' });
  });

  it('refuses a request whose look-up took too long', async () => {
    const { key } = await harness.createServiceAccountWithKey(here);
    const slow = await there(async () => void (harness.now += 2_001));
    await expect(slow.authenticateKey(key)).rejects.toThrow(UnavailableError);
  });

  it('uses cached credentials for three seconds while the document store is down, then refuses all', async () => {
    const { key } = await harness.createServiceAccountWithKey(here);
    let isDown = false;
    const remote = await there(async () => {
      if (isDown) throw new UnavailableError('document store', 'is down');
    });
    await remote.authenticateKey(key);
    isDown = true;
    harness.now += 2_999;
    expect(await remote.authenticateKey(key)).toBeDefined();
    for (const wait of [1, 1_000, 3_600_000]) {
      harness.now += wait;
      await expect(remote.authenticateKey(key)).rejects.toThrow(UnavailableError);
    }
    isDown = false;
    expect(await remote.authenticateKey(key)).toBeDefined();
  });

  it('refuses a key from the moment of its expiry', async () => {
    const expires_at = new Date(harness.now + 10_000).toISOString();
    const { key } = await harness.createServiceAccountWithKey(here, 'operator', { expires_at });
    harness.now += 9_999;
    expect(await here.authenticateKey(key)).toBeDefined();
    harness.now += 1;
    expect(await here.authenticateKey(key)).toBeUndefined();
  });
});
