import type { User } from '@tracking/contracts';
import { CHEAP_HASH_COST, openIdentityReplicas, captureRefusal } from '../test/replicas.ts';
import type { IdentityServices, IdentityCommand } from './index.ts';

const PASSWORD = 'a horse in the rain';
const OTHER = 'two horses in the sun';
const DAY = 86_400_000;

describe('users', () => {
  let world: Awaited<ReturnType<typeof openIdentityReplicas>>;
  let identity: IdentityServices;

  beforeEach(async () => {
    world = await openIdentityReplicas();
    identity = await world.openIdentityReplica();
  });
  afterEach(() => world.close());

  const command = (of: Parameters<typeof world.createTestCommand>[0] = {}) => world.createTestCommand(of);
  async function active(email: string, role: User['role'] = 'operator', workspace = 'default'): Promise<User> {
    const { after } = await identity.users.createUser(await command({ workspace }), {
      email,
      role,
      password: PASSWORD,
    });
    return after;
  }
  const stored = async (email: string) => (await identity.users.findByEmail(email))[0];
  const use = (token: string, password = PASSWORD, by: Pick<IdentityCommand, 'id'> = { id: `use ${Math.random()}` }) =>
    identity.links.redeemOneTimeLink({ ...by, at: new Date(world.time.now).toISOString() }, token, {
      name: 'Jo',
      password,
    });

  describe('are invited', () => {
    it('and become active with the link, which can be used once', async () => {
      const { after, link } = await identity.users.inviteUser(await command(), {
        email: 'Jo@Example.com',
        role: 'viewer',
      });
      expect(after).toEqual({
        id: expect.stringMatching(/^usr_[a-z2-7]{26}$/),
        workspace_id: (await command()).workspace_id,
        name: null,
        email: 'Jo@Example.com',
        role: 'viewer',
        status: 'invited',
        created_by: { type: 'system', id: 'administration' },
        created_at: '2026-03-01T12:00:00.000Z',
        last_seen_at: null,
        version: 1,
      });
      expect(link).toEqual({
        purpose: 'invitation',
        token: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
        expires_at: '2026-03-08T12:00:00.000Z',
      });
      expect(await identity.users.findByEmail('jo@example.com')).toEqual([]);
      expect(await identity.links.getLinkDetails(link.token)).toEqual({
        purpose: 'invitation',
        workspace_id: after.workspace_id,
        email: 'Jo@Example.com',
        role: 'viewer',
        expires_at: link.expires_at,
      });
      const accepted = await use(link.token);
      expect(accepted.after).toMatchObject({ id: after.id, name: 'Jo', status: 'active', version: 2 });
      expect(await stored('JO@example.com')).toMatchObject({ id: after.id });
      expect((await captureRefusal(identity.links.getLinkDetails(link.token))).code).toBe('not_found');
      expect((await captureRefusal(use(link.token, OTHER))).code).toBe('not_found');
    });

    it('once per e-mail address and workspace, regardless of case, but also in other workspaces', async () => {
      await identity.users.inviteUser(await command(), { email: 'jo@example.com', role: 'viewer' });
      const again = identity.users.inviteUser(await command(), { email: 'JO@example.com', role: 'admin' });
      expect((await captureRefusal(again)).code).toBe('user_exists');
      const elsewhere = await identity.users.inviteUser(await command({ workspace: 'other' }), {
        email: 'jo@example.com',
        role: 'viewer',
      });
      expect(elsewhere.after.status).toBe('invited');
    });

    it('once, however often the command is repeated, with the same result', async () => {
      const [here, there] = [identity, await world.openIdentityReplica()];
      const repeated = await command();
      const invitation = { email: 'jo@example.com', role: 'viewer' } as const;
      const answers = await Promise.all([here, there, here].map((each) => each.users.inviteUser(repeated, invitation)));
      world.time.now += 60_000;
      answers.push(await there.users.inviteUser(repeated, invitation));
      expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1);
      expect(await identity.users.listWorkspaceUsers(repeated.workspace_id)).toHaveLength(1);
    });

    const hidden = ['j\u200bo@example.com', 'jo\u202e@example.com', 'jo@exam\u00adple.com', 'j\u0007o@example.com'];
    const malformed = [
      'jo',
      'jo@',
      '@example.com',
      'jo@example',
      'jo doe@example.com',
      `${'x'.repeat(250)}@example.com`,
    ];
    it.each([...malformed, ...hidden, ''])('but not as %j', async (email) => {
      const error = await captureRefusal(identity.users.inviteUser(await command(), { email, role: 'viewer' }));
      expect(error).toMatchObject({ code: 'validation_failed', details: [{ param: 'email' }] });
    });

    it('again with a new link, which replaces the old one', async () => {
      const first = await identity.users.inviteUser(await command(), { email: 'jo@example.com', role: 'viewer' });
      const second = await identity.users.resetPassword(await command(), first.after.id);
      expect(second.link.purpose).toBe('invitation');
      expect((await captureRefusal(use(first.link.token))).code).toBe('not_found');
      expect((await use(second.link.token)).after.status).toBe('active');
    });
  });

  describe('links', () => {
    it('are used once, even by concurrent requests on several replicas', async () => {
      const replicas = [identity, await world.openIdentityReplica()];
      const { link, after } = await identity.users.inviteUser(await command(), {
        email: 'jo@example.com',
        role: 'viewer',
      });
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, async (_each, index) => {
          const at = new Date(world.time.now).toISOString();
          const by = { id: `use ${index}`, at };
          const password = `${PASSWORD} ${index}`;
          return (replicas[index % 2] ?? identity).links.redeemOneTimeLink(by, link.token, {
            name: `Jo ${index}`,
            password,
          });
        }),
      );
      const winners = outcomes.flatMap((each, index) => (each.status === 'fulfilled' ? [index] : []));
      expect(winners).toHaveLength(1);
      const user = await stored('jo@example.com');
      expect(user).toMatchObject({ id: after.id, name: `Jo ${winners[0]}`, version: 2 });
      const change = { current_password: `${PASSWORD} ${winners[0]}`, new_password: OTHER };
      await identity.userPasswords.changePassword(await command(), after.id, change);
    });

    it('return the same result for a repeat of the command that used them', async () => {
      const { link, after } = await identity.users.inviteUser(await command(), {
        email: 'jo@example.com',
        role: 'viewer',
      });
      const first = await use(link.token, PASSWORD, { id: 'use' });
      expect(await use(link.token, PASSWORD, { id: 'use' })).toEqual(first);
      // Even after another change of the user.
      await identity.users.changeUser(await command(), after.id, { role: 'operator' });
      expect((await use(link.token, PASSWORD, { id: 'use' })).after).toMatchObject({ role: 'operator', version: 3 });
    });

    it('end after seven days', async () => {
      const { link } = await identity.users.inviteUser(await command(), { email: 'jo@example.com', role: 'viewer' });
      world.time.now += 7 * DAY - 1;
      expect(await identity.links.getLinkDetails(link.token)).toMatchObject({ purpose: 'invitation' });
      world.time.now += 1;
      expect((await captureRefusal(identity.links.getLinkDetails(link.token))).code).toBe('not_found');
      expect((await captureRefusal(use(link.token))).code).toBe('not_found');
    });

    it('stay valid after a refused request', async () => {
      const { link } = await identity.users.inviteUser(await command(), { email: 'jo@example.com', role: 'viewer' });
      for (const password of ['short', 'password123', 'jo@example.com']) {
        expect((await captureRefusal(use(link.token, password))).details[0]).toMatchObject({ param: 'password' });
      }
      const at = new Date(world.time.now).toISOString();
      const nameless = identity.links.redeemOneTimeLink({ id: 'nameless', at }, link.token, { password: PASSWORD });
      expect((await captureRefusal(nameless)).details).toMatchObject([{ param: 'name', code: 'required' }]);
      expect(world.work.hashes).toBe(0);
      expect((await use(link.token)).after.status).toBe('active');
    });

    it('are refused if they are malformed', async () => {
      for (const token of ['', 'x', 'x'.repeat(43), '../admin', 'x'.repeat(10_000)]) {
        expect((await captureRefusal(identity.links.getLinkDetails(token))).code).toBe('not_found');
        expect((await captureRefusal(use(token))).code).toBe('not_found');
      }
    });

    it('and passwords are never stored', async () => {
      const { link } = await identity.users.inviteUser(await command(), { email: 'jo@example.com', role: 'viewer' });
      await use(link.token);
      const { id } = (await stored('jo@example.com')) ?? { id: '' };
      const reset = await identity.users.resetPassword(await command(), id);
      const content = await world.content();
      for (const secret of [link.token, reset.link.token, PASSWORD]) expect(content).not.toContain(secret);
      expect(content).toContain('$argon2id$');
    });
  });

  describe('passwords', () => {
    it('are set again with a link, whose creation and use end the sessions; the name stays', async () => {
      const user = await active('jo@example.com');
      await identity.users.changeUser(await command(), user.id, { name: 'Johanna' });
      const before = await stored('jo@example.com');
      const { link } = await identity.users.resetPassword(await command(), user.id);
      expect((await identity.links.getLinkDetails(link.token)).purpose).toBe('password_reset');
      // The former password is valid until then.
      expect((await stored('jo@example.com'))?.password_hash).toBe(before?.password_hash);
      const reset = await stored('jo@example.com');
      expect(reset?.sessions_epoch).toBeGreaterThan(before?.sessions_epoch ?? Infinity);
      const at = new Date(world.time.now).toISOString();
      await identity.links.redeemOneTimeLink({ id: 'reset', at }, link.token, { password: OTHER });
      const after = await stored('jo@example.com');
      expect(after?.name).toBe('Johanna');
      expect(after?.sessions_epoch).toBeGreaterThan(reset?.sessions_epoch ?? Infinity);
      expect(after?.password_hash).not.toBe(before?.password_hash);
    });

    it('are set with a link for a user without a name, who stays without one', async () => {
      const request = { email: 'jo@example.com', role: 'viewer', password: PASSWORD } as const;
      const { after: user } = await identity.users.createUser(await command(), request);
      const { link } = await identity.users.resetPassword(await command(), user.id);
      const before = await stored('jo@example.com');
      const at = new Date(world.time.now).toISOString();
      const used = await identity.links.redeemOneTimeLink({ id: 'reset', at }, link.token, { password: OTHER });
      expect(used.after).toMatchObject({ id: user.id, name: null, status: 'active' });
      expect((await stored('jo@example.com'))?.password_hash).not.toBe(before?.password_hash);
    });

    it('are changed with the current one, which ends the sessions and the link', async () => {
      const user = await active('jo@example.com');
      const { link } = await identity.users.resetPassword(await command(), user.id);
      const before = await stored('jo@example.com');
      const changing = await command();
      const change = { current_password: PASSWORD, new_password: OTHER };
      const changed = await identity.userPasswords.changePassword(changing, user.id, change);
      expect(changed.sessions_epoch).toBe((before?.sessions_epoch ?? 0) + 1);
      // The former password is not stored.
      expect(JSON.stringify(await stored('jo@example.com'))).not.toContain(before?.password_hash);
      // The repeat of the command carries the former password.
      expect(await identity.userPasswords.changePassword(changing, user.id, change)).toEqual(changed);
      expect((await captureRefusal(identity.userPasswords.changePassword(await command(), user.id, change))).code).toBe(
        'invalid_credentials',
      );
      expect((await captureRefusal(identity.links.getLinkDetails(link.token))).code).toBe('not_found');
    });

    it('are changed by only one of several concurrent requests', async () => {
      const user = await active('jo@example.com');
      const outcomes = await Promise.allSettled(
        Array.from({ length: 5 }, async (_each, index) =>
          identity.userPasswords.changePassword(await command(), user.id, {
            current_password: PASSWORD,
            new_password: `${OTHER} ${index}`,
          }),
        ),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('are checked, and the invalid field is named', async () => {
      const user = await active('jo@example.com');
      const change = { current_password: PASSWORD, new_password: 'jo@example.com' };
      const error = await captureRefusal(identity.userPasswords.changePassword(await command(), user.id, change));
      expect(error.details).toMatchObject([{ param: 'new_password' }]);
    });

    it('with a former cost are hashed again after a successful sign-in', async () => {
      await active('jo@example.com');
      const user = await stored('jo@example.com');
      if (!user) throw new Error('no user');
      await identity.userPasswords.rehashPassword(user, PASSWORD);
      expect((await stored('jo@example.com'))?.password_hash).toBe(user.password_hash);
      const later = await world.openIdentityReplica({ cost: { ...CHEAP_HASH_COST, passes: 2 } });
      await later.userPasswords.rehashPassword(user, PASSWORD);
      const renewed = await stored('jo@example.com');
      expect(renewed?.password_hash).toContain('m=8,t=2,');
      // Rehashing ends no session and changes no ETag.
      expect(renewed).toMatchObject({ sessions_epoch: user.sessions_epoch, version: user.version });
    });
  });

  describe('changes', () => {
    it('return the former and the new state, and repeat nothing', async () => {
      const user = await active('jo@example.com', 'viewer');
      const changing = await command();
      const changed = await identity.users.changeUser(changing, user.id, { name: ' Jo ', role: 'developer' });
      expect(changed.before).toEqual(user);
      expect(changed.after).toEqual({ ...user, name: 'Jo', role: 'developer', version: 2 });
      expect(await identity.users.changeUser(changing, user.id, { name: ' Jo ', role: 'developer' })).toEqual(changed);
      const same = await identity.users.changeUser(await command(), user.id, { name: 'Jo' });
      expect(same).toEqual({ before: changed.after, after: changed.after });
    });

    it('are refused if If-Match names another version', async () => {
      const { id } = await active('jo@example.com', 'viewer');
      const matching = await command({ if_match: [1] });
      await identity.users.changeUser(matching, id, { role: 'operator' });
      const late = identity.users.changeUser(await command({ if_match: [1] }), id, { role: 'feed' });
      expect((await captureRefusal(late)).code).toBe('precondition_failed');
      // The repeat of a completed command changes nothing.
      expect((await identity.users.changeUser(matching, id, { role: 'operator' })).after.version).toBe(2);
    });

    it('of another workspace are not found', async () => {
      const { id } = await active('jo@example.com');
      const foreign = await command({ workspace: 'other' });
      for (const change of [
        identity.users.getUser(foreign.workspace_id, id),
        identity.users.changeUser(foreign, id, { role: 'admin' }),
        identity.users.deactivateUser(foreign, id),
        identity.users.reactivateUser(foreign, id),
        identity.users.resetPassword(foreign, id),
        identity.users.findUserByEmail(foreign.workspace_id, 'jo@example.com'),
      ]) {
        expect((await captureRefusal(change)).code).toBe('not_found');
      }
    });

    it('deactivate: no sign-in, session or link; reactivating restores the former state', async () => {
      const user = await active('jo@example.com');
      const before = await stored('jo@example.com');
      const { link } = await identity.users.resetPassword(await command(), user.id);
      const { after } = await identity.users.deactivateUser(await command(), user.id);
      expect(after.status).toBe('deactivated');
      expect(await identity.users.findByEmail('jo@example.com')).toEqual([]);
      expect((await captureRefusal(use(link.token))).code).toBe('not_found');
      expect((await captureRefusal(identity.users.resetPassword(await command(), user.id))).code).toBe(
        'user_not_active',
      );
      expect((await identity.users.reactivateUser(await command(), user.id)).after.status).toBe('active');
      expect((await stored('jo@example.com'))?.sessions_epoch).toBeGreaterThan(before?.sessions_epoch ?? Infinity);
      expect((await captureRefusal(use(link.token))).code).toBe('not_found');
    });

    it('reactivate as invited a user who never set a password', async () => {
      const { after, link } = await identity.users.inviteUser(await command(), {
        email: 'jo@example.com',
        role: 'viewer',
      });
      await identity.users.deactivateUser(await command(), after.id);
      const again = await command();
      const reactivated = await identity.users.reactivateUser(again, after.id);
      expect(reactivated.after.status).toBe('invited');
      expect(await identity.links.getLinkDetails(reactivated.link?.token ?? '')).toMatchObject({
        purpose: 'invitation',
      });
      expect((await identity.users.reactivateUser(again, after.id)).link).toEqual(reactivated.link);
      expect((await identity.users.reactivateUser(await command(), after.id)).link).toBeNull();
      expect((await captureRefusal(use(link.token))).code).toBe('not_found');
    });
  });

  it('are listed in pages, newest first, for one workspace', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) {
      world.time.now += 1_000;
      await active(`${name}@example.com`, 'viewer');
      await active(`${name}@example.com`, 'viewer', 'other');
    }
    const { workspace_id } = await command();
    const seen: string[] = [];
    let after: readonly string[] | null = [];
    while (after) {
      const page = await identity.users.listUsers(workspace_id, { limit: 2, ...(after.length > 0 && { after }) });
      expect(page.items.length).toBeLessThanOrEqual(2);
      seen.push(...page.items.map(({ email }) => email));
      after = page.next;
    }
    expect(seen).toEqual(names.toReversed().map((name) => `${name}@example.com`));
    expect((await identity.users.listWorkspaceUsers(workspace_id)).map(({ email }) => email[0])).toEqual(names);
  });

  it('sign in with an e-mail address of several workspaces, the oldest user first', async () => {
    const first = await active('jo@example.com');
    world.time.now += 1_000;
    const second = await active('jo@example.com', 'viewer', 'other');
    expect((await identity.users.findByEmail('Jo@example.com')).map(({ id }) => id)).toEqual([first.id, second.id]);
    const there = await identity.users.findByEmail('jo@example.com', second.workspace_id);
    expect(there.map(({ id }) => id)).toEqual([second.id]);
    expect(await identity.users.findByEmail('nobody@example.com')).toEqual([]);
  });
});
