import { Unavailable } from '@tracking/ports';
import type { DocumentStore } from '@tracking/ports';
import { Stage } from '../test/stage.ts';
import { behind } from '../test/storage.ts';
import { EVERY_KEY, permissionsOf } from './index.ts';
import type { Principal , Identity} from './index.ts';

/** What was true before a change: the rights of an operator. */
const BEFORE = permissionsOf('operator', 'live');
const WITHIN_MS = 5_000;

type Subject = { readonly here: Identity; readonly stage: Stage; readonly owner: string; readonly id: string };
const CHANGES: readonly (readonly [string, (subject: Subject) => Promise<unknown>])[] = [
  ['a key that is revoked', ({ here, stage, id }) => here.keys.revoke(stage.command(), EVERY_KEY, id)],
  [
    'a key that is rotated without a grace',
    ({ here, stage, id }) => here.keys.rotate(stage.command(), EVERY_KEY, id, 0),
  ],
  ['a role that is changed', ({ here, stage, owner }) => changeAccount(here, stage, owner, 'viewer')],
  [
    'a service account that is deactivated',
    ({ here, stage, owner }) => here.serviceAccounts.deactivate(stage.command(), owner),
  ],
];
const changeAccount = (here: Identity, stage: Stage, owner: string, role: 'viewer') =>
  here.serviceAccounts.change(stage.command(), owner, { role });

describe('authentication', () => {
  let stage: Stage;
  let here: Identity;
  beforeEach(async () => {
    stage = await Stage.open();
    here = await stage.replica();
  });
  afterEach(() => stage.close());

  /** A replica of which every read does this before it is answered. */
  const there = (onRead: () => Promise<void>): Promise<Identity> => {
    const store: DocumentStore = behind(onRead, stage.storage.documentStore, ['find', 'get', 'getMany']);
    return stage.replica(store);
  };
  const isAsBefore = (principal: Principal | undefined) => principal?.permissions === BEFORE;

  describe.each(CHANGES)('of %s', (_what, change) => {
    // Two reads each: at more than 2,000 no look-up is in time.
    it.each([0, 300, 1_500, 2_000])(
      'is over everywhere within five seconds, though each read takes %d ms',
      async (takesMs) => {
        const made = await stage.accountKey(here, 'operator');
        let onRead = () => Promise.resolve();
        const remote = await there(() => onRead());
        expect(isAsBefore(await remote.authenticateKey(made.key))).toBe(true);

        stage.now += 3_000;
        let changedAt = 0;
        onRead = async () => {
          // What was read is of before.
          if (changedAt === 0) await change({ here, stage, owner: made.owner.id, id: made.id });
          changedAt ||= stage.now;
          stage.now += takesMs;
        };
        let asBefore: boolean;
        do {
          asBefore = isAsBefore(await remote.authenticateKey(made.key));
          if (asBefore) expect(stage.now - changedAt).toBeLessThanOrEqual(WITHIN_MS);
          stage.now += 250;
        } while (stage.now - changedAt < 3 * WITHIN_MS);
        expect(asBefore).toBe(false);
      },
    );

    it('is over at once where it was changed', async () => {
      const made = await stage.accountKey(here, 'operator');
      expect(isAsBefore(await here.authenticateKey(made.key))).toBe(true);
      await change({ here, stage, owner: made.owner.id, id: made.id });
      expect(isAsBefore(await here.authenticateKey(made.key))).toBe(false);
    });
  });

  it.each(['deactivated', 'invited'])('refuses the keys of a user who is %s', async (status) => {
    const id = await stage.user();
    const { key } = await stage.key(here, { type: 'user', id });
    expect(await here.authenticateKey(key)).toBeDefined();
    const users = await stage.storage.documentStore.collection({ name: 'users', indexes: [] });
    await users.claim({ filter: { id } }, { status } as never);
    stage.now += WITHIN_MS;
    expect(await here.authenticateKey(key)).toBeUndefined();
  });

  it('lets nobody in by a look-up that took too long', async () => {
    const { key } = await stage.accountKey(here);
    const slow = await there(async () => void (stage.now += 2_001));
    await expect(slow.authenticateKey(key)).rejects.toThrow(Unavailable);
  });

  it('lets in by what it knows for three seconds while the document store is down, then nobody', async () => {
    const { key } = await stage.accountKey(here);
    let isDown = false;
    const remote = await there(async () => {
      if (isDown) throw new Unavailable('document store', 'is down');
    });
    await remote.authenticateKey(key);
    isDown = true;
    stage.now += 2_999;
    expect(await remote.authenticateKey(key)).toBeDefined();
    for (const wait of [1, 1_000, 3_600_000]) {
      stage.now += wait;
      await expect(remote.authenticateKey(key)).rejects.toThrow(Unavailable);
    }
    isDown = false;
    expect(await remote.authenticateKey(key)).toBeDefined();
  });

  it('refuses a key from the moment in which it expires', async () => {
    const expires_at = new Date(stage.now + 10_000).toISOString();
    const { key } = await stage.accountKey(here, 'operator', { expires_at });
    stage.now += 9_999;
    expect(await here.authenticateKey(key)).toBeDefined();
    stage.now += 1;
    expect(await here.authenticateKey(key)).toBeUndefined();
  });
});
