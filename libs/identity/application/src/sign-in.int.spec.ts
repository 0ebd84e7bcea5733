import type { Role } from '@tracking/contracts';
import { InProcessLeases } from '@tracking/embedded';
import { BusyError, UnavailableError } from '@tracking/ports';
import { BackgroundWorkThrottle } from '@tracking/resilience';
import { eventually, noMetrics, silentLogger } from '@tracking/testing';
import { openIdentityReplicas, captureRefusal } from '../test/replicas.ts';
import { createStoreWithStepHook } from '../test/stepping-store.ts';
import { IdentityServices, createIdentitySweeper } from './index.ts';
import type { StartedSession } from './index.ts';
import type { UserDocument } from './user-store.ts';

const UNPACED = new BackgroundWorkThrottle({ share: 1 });
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const PASSWORD = 'violet harbour crane';
const FROM = { address: '203.0.113.7', user_agent: 'curl/8.5', request_id: 'req_1' };

let replicas: Awaited<ReturnType<typeof openIdentityReplicas>>;
let identity: IdentityServices;
let signIns: number;

beforeEach(async () => {
  replicas = await openIdentityReplicas();
  identity = await replicas.openIdentityReplica();
  signIns = 0;
});
afterEach(() => replicas.close());

const at = () => new Date(replicas.time.now).toISOString();
const command = () => ({ id: `sign-in ${(signIns += 1)}`, at: at() });
const newUser = async (email = 'jo@example.com', role: Role = 'viewer', workspace = 'default', password = PASSWORD) =>
  (await identity.users.createUser(await replicas.createTestCommand({ workspace }), { email, role, password })).after;
const signIn = (fields: object = {}, by = identity): Promise<StartedSession> =>
  by.signIn(command(), { email: 'jo@example.com', password: PASSWORD, ...FROM, ...fields });
const lets = async ({ token }: StartedSession, by = identity) =>
  (await by.authenticateSession(token, 'live')) !== undefined;
/** Advances the clock beyond the time for which look-ups are cached. */
const lookedUpAgain = () => void (replicas.time.now += 5_000);

describe('signing in', () => {
  it("begins a session of the user with the permissions of the user's role", async () => {
    const user = await newUser('Jo@Example.com', 'developer');
    const { session, token } = await signIn({ email: ' jo@EXAMPLE.com' });
    expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(session).toMatchObject({
      id: expect.stringMatching(/^ses_[a-z2-7]{26}$/),
      user_id: user.id,
      device: 'curl/8.5',
      address: '203.0.113.7',
      expires_at: new Date(replicas.time.now + 30 * DAY_MS).toISOString(),
    });
    const principal = await identity.authenticateSession(token, 'live');
    expect(principal).toMatchObject({
      type: 'session',
      credential_id: session.id,
      workspace_id: user.workspace_id,
      environment: 'live',
      actor: { type: 'user', id: user.id },
    });
    expect(principal?.permissions.has('shipments:write')).toBe(false);
    expect((await identity.authenticateSession(token, 'test'))?.permissions.has('shipments:write')).toBe(true);
    expect(await replicas.content()).not.toContain(token);
  });

  it('is refused with the same message after the same work, whatever the reason', async () => {
    await newUser();
    await newUser('other@example.com', 'admin');
    for (const workspace of ['default', 'Acme']) await newUser('in-two@example.com', 'viewer', workspace);
    const four = ['default', 'Acme', 'Bolt', 'Crane'];
    for (const workspace of four) await newUser('in-four@example.com', 'viewer', workspace);
    const gone = await newUser('gone@example.com');
    await identity.users.deactivateUser(await replicas.createTestCommand(), gone.id);
    await identity.users.inviteUser(await replicas.createTestCommand(), {
      email: 'invited@example.com',
      role: 'viewer',
    });
    const wrong = [
      { password: 'not the password' },
      { password: '' },
      { password: 'x'.repeat(100_000) },
      { email: 'nobody@example.com' },
      { email: 'nobody' },
      { email: 'in-two@example.com', password: 'not the password' },
      { email: 'in-four@example.com', password: 'not the password' },
      { email: 'in-four@example.com', password: 'not the password', workspace: 'Crane' },
      { email: 'gone@example.com' },
      { email: 'invited@example.com' },
      { workspace: 'nowhere' },
      { workspace: 'nowhere', email: 'nobody@example.com' },
    ];
    for (const fields of wrong) {
      replicas.work.hashes = 0;
      const { code, message } = await captureRefusal(signIn(fields));
      expect([fields, code, message, replicas.work.hashes]).toEqual([
        fields,
        'invalid_credentials',
        'No active user has this e-mail address and password.',
        // However many workspaces have the e-mail address.
        'workspace' in fields ? 1 : 3,
      ]);
    }
  });

  it('returns the same session if the command is repeated', async () => {
    await newUser();
    const repeated = command();
    const request = { email: 'jo@example.com', password: PASSWORD, ...FROM };
    const [first, second] = [await identity.signIn(repeated, request), await identity.signIn(repeated, request)];
    expect(second).toEqual(first);
    expect((await identity.sessions.listSessions(first.session.user_id, { limit: 10 })).items).toHaveLength(1);
    // A session that has ended is not begun again.
    await identity.sessions.endSession(first.session.user_id, first.session.id);
    const third = await identity.signIn(repeated, request);
    expect([await lets(third), await lets(third, await replicas.openIdentityReplica())]).toEqual([false, false]);
    await identity.sessions.deleteEndedSessions(new Date(replicas.time.now), new AbortController().signal, UNPACED);
    const fourth = await identity.signIn(repeated, request);
    expect([await lets(first), await lets(fourth)]).toEqual([false, false]);
    expect((await identity.sessions.listSessions(first.session.user_id, { limit: 10 })).items).toEqual([]);
    // Others may know the id of the command, but only the user knows the token.
    const stranger = await IdentityServices.openIdentity({
      documentStore: replicas.documentStore,
      secret: Buffer.alloc(32, 1),
      clock: () => new Date(replicas.time.now),
      logger: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
      passwords: { cost: { memory: 8, passes: 1, parallelism: 1 } },
    });
    expect((await stranger.signIn(repeated, request)).token).not.toBe(first.token);
    await stranger.closeIdentityAfterPendingWrites();
  });

  it('finds the workspace by the password, or by its name or id', async () => {
    const here = await newUser('jo@example.com', 'viewer', 'default', 'password of default');
    replicas.time.now += 1_000;
    const there = await newUser('jo@example.com', 'admin', 'Acme', 'password of acme');
    const signedIn = async (fields: object) => (await signIn(fields)).session.workspace_id;
    expect(await signedIn({ password: 'password of default' })).toBe(here.workspace_id);
    expect(await signedIn({ password: 'password of acme' })).toBe(there.workspace_id);
    expect(await signedIn({ password: 'password of acme', workspace: 'ACME' })).toBe(there.workspace_id);
    expect(await signedIn({ password: 'password of acme', workspace: there.workspace_id })).toBe(there.workspace_id);
    const elsewhere = { password: 'password of acme', workspace: 'default' };
    expect((await captureRefusal(signIn(elsewhere))).code).toBe('invalid_credentials');
  });

  it('tries the oldest three users of an e-mail address, with no more hashes than needed', async () => {
    for (const [n, workspace] of ['default', 'Acme', 'Bolt', 'Crane'].entries()) {
      replicas.time.now += 1_000;
      await newUser('jo@example.com', 'viewer', workspace, `password number ${n}`);
    }
    const hashes: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      replicas.work.hashes = 0;
      await signIn({ password: `password number ${n}` });
      hashes.push(replicas.work.hashes);
    }
    expect(hashes).toEqual([1, 2, 3]);
    expect((await captureRefusal(signIn({ password: 'password number 3' }))).code).toBe('invalid_credentials');
    expect((await signIn({ password: 'password number 3', workspace: 'Crane' })).session.device).toBe('curl/8.5');
  });
});

describe('a session', () => {
  it('ends exactly after 12 hours without use', async () => {
    await newUser();
    const begun = await signIn();
    replicas.time.now += 12 * HOUR_MS - 1;
    expect(await lets(begun)).toBe(true);
    await identity.closeIdentityAfterPendingWrites();
    replicas.time.now += 12 * HOUR_MS - 1;
    expect(await lets(begun)).toBe(true);
    await identity.closeIdentityAfterPendingWrites();
    replicas.time.now += 12 * HOUR_MS;
    expect(await lets(begun)).toBe(false);
  });

  it('ends after 30 days, however much it is used', async () => {
    await newUser();
    const begun = await signIn();
    const end = Date.parse(begun.session.expires_at);
    while (replicas.time.now < end - 11 * HOUR_MS) {
      replicas.time.now += 11 * HOUR_MS;
      expect(await lets(begun)).toBe(true);
      await identity.closeIdentityAfterPendingWrites();
    }
    replicas.time.now = end - 1;
    expect(await lets(begun)).toBe(true);
    replicas.time.now = end;
    expect(await lets(begun)).toBe(false);
  });

  it('records its use once a minute, and the use of its user', async () => {
    const user = await newUser();
    const begun = await signIn();
    const seen = async () => {
      await identity.closeIdentityAfterPendingWrites();
      const [listed] = (await identity.sessions.listSessions(user.id, { limit: 1 })).items;
      return [listed?.last_seen_at, (await identity.users.getUser(user.workspace_id, user.id)).last_seen_at];
    };
    const begunAt = at();
    await lets(begun);
    expect(await seen()).toEqual([begunAt, begunAt]);
    replicas.time.now += MINUTE_MS - 1;
    await lets(begun);
    expect(await seen()).toEqual([begunAt, begunAt]);
    lookedUpAgain();
    await lets(begun);
    expect(await seen()).toEqual([at(), at()]);
  });

  it('has the present role of its user, and ends on every replica when the user is deactivated', async () => {
    const user = await newUser('jo@example.com', 'admin');
    await newUser('other@example.com', 'admin');
    const other = await replicas.openIdentityReplica();
    const begun = await signIn();
    expect([await lets(begun), await lets(begun, other)]).toEqual([true, true]);
    await identity.users.changeUser(await replicas.createTestCommand(), user.id, { role: 'viewer' });
    const mayAdminister = async (by: IdentityServices) =>
      (await by.authenticateSession(begun.token, 'live'))?.permissions.has('workspace:admin');
    expect(await mayAdminister(identity)).toBe(false);
    lookedUpAgain();
    expect(await mayAdminister(other)).toBe(false);

    await identity.users.deactivateUser(await replicas.createTestCommand(), user.id);
    expect(await lets(begun)).toBe(false);
    lookedUpAgain();
    expect(await lets(begun, other)).toBe(false);
    await identity.users.reactivateUser(await replicas.createTestCommand(), user.id);
    lookedUpAgain();
    expect([await lets(begun), await lets(begun, other)]).toEqual([false, false]);
  });

  it('is listed for its user, and ended by its user only', async () => {
    const [jo, other] = [await newUser(), await newUser('other@example.com')];
    const sessions: StartedSession[] = [];
    for (let each = 0; each < 5; each += 1) {
      replicas.time.now += 1_000;
      sessions.push(await signIn());
    }
    const foreign = await signIn({ email: 'other@example.com' });
    const ids = sessions.map(({ session }) => session.id).reverse();
    const first = await identity.sessions.listSessions(jo.id, { limit: 3 });
    expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    expect(first.items[0]).toEqual({
      id: ids[0],
      device: 'curl/8.5',
      address: '203.0.113.7',
      created_at: at(),
      last_seen_at: at(),
      expires_at: expect.any(String),
    });
    const rest = await identity.sessions.listSessions(jo.id, { limit: 3, ...(first.next && { after: first.next }) });
    expect([rest.items.map(({ id }) => id), rest.next]).toEqual([ids.slice(3), null]);

    const [ended] = sessions as [StartedSession];
    expect(await lets(ended)).toBe(true);
    expect((await captureRefusal(identity.sessions.endSession(other.id, ended.session.id))).code).toBe('not_found');
    expect((await captureRefusal(identity.sessions.endSession(jo.id, foreign.session.id))).code).toBe('not_found');
    await identity.sessions.endSession(jo.id, ended.session.id);
    expect(await lets(ended)).toBe(false);
    expect((await captureRefusal(identity.sessions.endSession(jo.id, ended.session.id))).code).toBe('not_found');
    expect((await identity.sessions.listSessions(jo.id, { limit: 10 })).items).toHaveLength(4);
  });

  it('fails with an error if its store does not respond, instead of being refused', async () => {
    await newUser();
    const begun = await signIn();
    const { documentStore } = replicas;
    const down = await replicas.openIdentityReplica({
      documentStore: new Proxy(documentStore, {
        get: (target, name) =>
          name === 'collection'
            ? async (spec: Parameters<typeof documentStore.collection>[0]) => {
                const collection = await target.collection(spec);
                const find = () => Promise.reject(new UnavailableError('document store', 'gone'));
                return spec.name === 'sessions' ? Object.assign(Object.create(collection), { find }) : collection;
              }
            : Reflect.get(target, name),
      }),
    });
    await expect(lets(begun, down)).rejects.toBeInstanceOf(UnavailableError);
  });
});

describe('a new password', () => {
  const change = { current_password: PASSWORD, new_password: 'another harbour crane' };

  it('ends every session immediately; the session of the request is renewed with another token', async () => {
    const user = await newUser();
    const [renewed, ended] = [await signIn(), await signIn()];
    const other = await replicas.openIdentityReplica();
    for (const begun of [renewed, ended]) expect([await lets(begun), await lets(begun, other)]).toEqual([true, true]);
    const changing = await replicas.createTestCommand();
    const { sessions_epoch: epoch } = await identity.userPasswords.changePassword(changing, user.id, change);
    const { id } = renewed.session;
    const again = await identity.sessions.replaceSessionTokenForNewEpoch(changing, { id, epoch });
    if (!again) throw new Error('not renewed');
    expect(await identity.sessions.replaceSessionTokenForNewEpoch(changing, { id, epoch })).toEqual(again);
    expect([await lets(again), await lets(renewed), await lets(ended)]).toEqual([true, false, false]);
    lookedUpAgain();
    for (const begun of [renewed, ended]) expect([begun.token, await lets(begun, other)]).toEqual([begun.token, false]);
    expect(await lets(again, other)).toBe(true);
    expect((await identity.sessions.listSessions(user.id, { limit: 10 })).items.map((each) => each.id)).toEqual([id]);
    expect((await captureRefusal(signIn())).code).toBe('invalid_credentials');
    expect(await lets(await signIn({ password: change.new_password }))).toBe(true);
    expect(await replicas.content()).not.toContain(again.token);
  });

  it('ends every session if the process ends before it renews one', async () => {
    const user = await newUser();
    const begun = await signIn();
    await identity.userPasswords.changePassword(await replicas.createTestCommand(), user.id, change);
    expect(await lets(begun)).toBe(false);
    expect((await identity.sessions.listSessions(user.id, { limit: 10 })).items).toEqual([]);
  });

  it('renews no session that was ended in the meantime', async () => {
    const user = await newUser();
    const { session } = await signIn();
    const changing = await replicas.createTestCommand();
    const { sessions_epoch: epoch } = await identity.userPasswords.changePassword(changing, user.id, change);
    await identity.sessions.endSession(user.id, session.id);
    expect(await identity.sessions.replaceSessionTokenForNewEpoch(changing, { id: session.id, epoch })).toBeUndefined();
    expect((await identity.sessions.listSessions(user.id, { limit: 10 })).items).toEqual([]);
  });

  it('keeps the session that an earlier version kept, until the next change', async () => {
    const user = await newUser();
    const kept = await signIn();
    const epoch = 2;
    await identity.userPasswords.changePassword(await replicas.createTestCommand(), user.id, change);
    const users = await replicas.documentStore.collection<UserDocument>({ name: 'users', indexes: [] });
    await users.claim({ filter: { id: user.id } }, { kept_session: { id: kept.session.id, epoch } });
    const after = await replicas.openIdentityReplica();
    expect(await lets(kept, after)).toBe(true);
    await after.closeIdentityAfterPendingWrites();
    expect((await after.sessions.listSessions(user.id, { limit: 10 })).items).toHaveLength(1);
    await identity.users.resetPassword(await replicas.createTestCommand(), user.id);
    lookedUpAgain();
    expect([await lets(kept), await lets(kept, after)]).toEqual([false, false]);
  });
});

describe('a password reset', () => {
  it('ends every session immediately where it is requested, and within five seconds on other replicas', async () => {
    const user = await newUser();
    const begun = [await signIn(), await signIn()];
    const other = await replicas.openIdentityReplica();
    for (const each of begun) expect([await lets(each), await lets(each, other)]).toEqual([true, true]);
    await identity.users.resetPassword(await replicas.createTestCommand(), user.id);
    for (const each of begun) expect(await lets(each)).toBe(false);
    lookedUpAgain();
    for (const each of begun) expect(await lets(each, other)).toBe(false);
    expect((await identity.sessions.listSessions(user.id, { limit: 10 })).items).toEqual([]);
  });
});

describe('the audit log of sign-ins', () => {
  const entries = async (workspace_id: string) => {
    await identity.closeIdentityAfterPendingWrites();
    return (await identity.auditLog.listAuditEntries(workspace_id, { filter: {}, limit: 50 })).items;
  };
  const wrong = { password: 'not the password' };
  const tryWrong = async (fields: object = {}) =>
    expect((await captureRefusal(signIn({ ...wrong, ...fields }))).code).toBe('invalid_credentials');

  it('has one entry for each session, also for repeats of its command', async () => {
    const { id, workspace_id } = await newUser();
    const repeated = command();
    const request = { email: 'jo@example.com', password: PASSWORD, ...FROM };
    const { session } = await identity.signIn(repeated, request);
    await identity.signIn(repeated, request);
    expect(await entries(workspace_id)).toEqual([
      {
        id: expect.stringMatching(/^aud_/),
        at: repeated.at,
        actor: { type: 'user', id, name: null },
        type: 'session.started',
        target: { type: 'session', id: session.id },
        changes: { device: { from: null, to: 'curl/8.5' }, address: { from: null, to: FROM.address } },
        outcome: 'done',
        request_id: FROM.request_id,
        address: FROM.address,
      },
    ]);
    await identity.sessions.endSession(id, session.id);
    await identity.signIn(repeated, request);
    expect(await entries(workspace_id)).toHaveLength(1);
  });

  it.each([
    ['has no entry if the store refused', new BusyError('document store', 'queue'), []],
    [
      'has an unknown outcome if the store may have written',
      new UnavailableError('document store', 'gone'),
      ['unknown'],
    ],
  ])('%s the session', async (_, failure, outcomes) => {
    const { workspace_id } = await newUser();
    const step = (operation: string, collection: string) =>
      operation === 'insert' && collection === 'sessions' ? Promise.reject(failure) : Promise.resolve();
    const failing = await replicas.openIdentityReplica({
      documentStore: createStoreWithStepHook(replicas.documentStore, step),
    });
    await expect(signIn({}, failing)).rejects.toBe(failure);
    expect((await entries(workspace_id)).map(({ outcome }) => outcome)).toEqual(outcomes);
  });

  it('has at most one entry of refused sign-ins per user and hour, on all replicas together', async () => {
    const { id, workspace_id } = await newUser();
    const other = await replicas.openIdentityReplica();
    for (let n = 0; n < 5; n += 1) {
      await tryWrong();
      expect((await captureRefusal(signIn(wrong, other))).code).toBe('invalid_credentials');
    }
    await other.closeIdentityAfterPendingWrites();
    replicas.time.now += HOUR_MS;
    await tryWrong({ user_agent: undefined });
    const refused = { type: 'session.refused', target: { type: 'session', id: null }, outcome: 'done' };
    expect(await entries(workspace_id)).toMatchObject([
      { ...refused, actor: { type: 'user', id }, changes: { device: { to: 'unknown' } } },
      { ...refused, actor: { type: 'user', id }, changes: { device: { to: 'curl/8.5' } } },
    ]);
  });

  it('has an entry in each workspace whose user was tried, and none of unknown e-mail addresses', async () => {
    const here = await newUser();
    const there = await newUser('jo@example.com', 'viewer', 'Acme');
    await tryWrong({ workspace: 'Acme' });
    expect(await entries(here.workspace_id)).toEqual([]);
    await tryWrong();
    await tryWrong({ email: 'nobody@example.com' });
    await tryWrong({ workspace: 'nowhere' });
    for (const user of [here, there]) {
      expect(await entries(user.workspace_id)).toMatchObject([{ type: 'session.refused', actor: { id: user.id } }]);
    }
    expect(await replicas.content()).not.toContain('nobody@example.com');
  });

  it('has no refusal if the password is that of another workspace', async () => {
    const here = await newUser();
    replicas.time.now += 1_000;
    const there = await newUser('jo@example.com', 'viewer', 'Acme', 'password of acme');
    await signIn({ password: 'password of acme' });
    expect(await entries(here.workspace_id)).toEqual([]);
    expect(await entries(there.workspace_id)).toMatchObject([{ type: 'session.started' }]);
  });

  it('does not delay or fail a refusal if it cannot be written', async () => {
    const { workspace_id } = await newUser();
    let isDown = false;
    const gone = new UnavailableError('document store', 'gone');
    const step = (operation: string) => (isDown && operation === 'insert' ? Promise.reject(gone) : Promise.resolve());
    const down = await replicas.openIdentityReplica({
      documentStore: createStoreWithStepHook(replicas.documentStore, step),
    });
    isDown = true;
    expect((await captureRefusal(signIn(wrong, down))).code).toBe('invalid_credentials');
    await down.closeIdentityAfterPendingWrites();
    expect(await entries(workspace_id)).toEqual([]);
  });
});

describe('the sweeper', () => {
  it('deletes a session that was ended when its sign-in can no longer be repeated', async () => {
    const user = await newUser();
    const { session } = await signIn();
    await identity.sessions.endSession(user.id, session.id);
    const isStored = async () => (await identity.sessions.documents.get(session.id)) !== undefined;
    for (const [hours, stored] of [
      [24, true],
      [1, false],
    ] as const) {
      replicas.time.now += hours * HOUR_MS;
      await identity.sessions.deleteEndedSessions(new Date(replicas.time.now), new AbortController().signal, UNPACED);
      expect(await isStored()).toBe(stored);
    }
  });

  it('deletes only ended sessions', async () => {
    const user = await newUser();
    const old = await signIn();
    replicas.time.now += 12 * HOUR_MS;
    const begun = await signIn();
    replicas.time.now += 1;
    await identity.sessions.deleteEndedSessions(new Date(replicas.time.now), new AbortController().signal, UNPACED);
    const stored = await identity.sessions.documents.getMany([old.session.id, begun.session.id]);
    expect(stored.map(({ id }) => id)).toEqual([begun.session.id]);
    expect((await identity.sessions.listSessions(user.id, { limit: 10 })).items).toHaveLength(1);
  });

  it('pauses after each page of sessions', async () => {
    await newUser();
    const { session } = await signIn();
    const ids = Array.from({ length: 450 }, (_, n) => `ses_${n}`);
    const { documents } = identity.sessions;
    await documents.writeMany(
      ids.map((id) => ({ kind: 'upsert', document: { ...session, id, hash: `ended ${id}` } }) as const),
    );
    replicas.time.now += 31 * DAY_MS;
    const left: number[] = [];
    const rest = async () => void left.push(await documents.count({}));
    const pace = new BackgroundWorkThrottle({ share: 0.2, rest });
    await identity.sessions.deleteEndedSessions(new Date(replicas.time.now), new AbortController().signal, pace);
    expect(left).toEqual([251, 51, 0]);
  });

  it('runs automatically, over sessions and the audit log', async () => {
    await newUser();
    const { session } = await signIn();
    const { workspace_id } = session;
    const who = { workspace_id, actor: { type: 'user', id: session.user_id }, address: null } as const;
    const change = { command_id: 'x', at: at(), type: 'user.changed', target_id: null, request_id: 'req_1' } as const;
    await identity.auditLog.beginAuditEntry({ ...who, ...change });
    const page = () => identity.auditLog.listAuditEntries(workspace_id, { filter: {}, limit: 10 });
    expect((await page()).items).toHaveLength(2);
    const leases = new InProcessLeases(1);
    const clock = () => new Date(replicas.time.now);
    const parts = { identity, leases, clock, logger: silentLogger, metrics: noMetrics };
    replicas.time.now += 401 * DAY_MS;
    const sweeper = createIdentitySweeper({ ...parts, everyMs: 1 });
    sweeper.startJobRounds();
    await eventually(async () => {
      expect(await identity.sessions.documents.get(session.id)).toBeUndefined();
      expect((await page()).items).toEqual([]);
    });
    await sweeper.stopJobRounds();
  });
});
