import type { User } from '@tracking/contracts';
import { UnavailableError } from '@tracking/ports';
import { choosePropertyTestRounds } from '@tracking/testing';
import { openIdentityReplicas, captureRefusal } from '../test/replicas.ts';
import { createRandomDelays, createStoreWithStepHook } from '../test/stepping-store.ts';
import type { ChangeResult, IdentityServices, IdentityCommand } from './index.ts';

const PASSWORD = 'a horse in the rain';

describe('the last admin', () => {
  let world: Awaited<ReturnType<typeof openIdentityReplicas>>;
  let identity: IdentityServices;
  let made: number;

  beforeEach(async () => {
    world = await openIdentityReplicas();
    identity = await world.openIdentityReplica();
    made = 0;
  });
  afterEach(() => world.close());

  async function admin(workspace = 'default'): Promise<User> {
    made += 1;
    world.time.now += 1;
    const email = `admin${made}@example.com`;
    return (
      await identity.users.createUser(await world.createTestCommand({ workspace }), {
        email,
        role: 'admin',
        password: PASSWORD,
      })
    ).after;
  }
  async function activeAdmins(workspace = 'default'): Promise<readonly string[]> {
    const { workspace_id } = await world.createTestCommand({ workspace });
    const users = await identity.users.listWorkspaceUsers(workspace_id);
    return users.filter(({ role, status }) => role === 'admin' && status === 'active').map(({ id }) => id);
  }
  const demote = (by: IdentityServices, command: IdentityCommand, id: string): Promise<ChangeResult<User>> =>
    by.users.changeUser(command, id, { role: 'viewer' });

  it('can be neither demoted nor deactivated', async () => {
    const { id } = await admin();
    expect((await captureRefusal(demote(identity, await world.createTestCommand(), id))).code).toBe('last_admin');
    expect((await captureRefusal(identity.users.deactivateUser(await world.createTestCommand(), id))).code).toBe(
      'last_admin',
    );
    expect((await identity.users.changeUser(await world.createTestCommand(), id, { name: 'Jo' })).after.name).toBe(
      'Jo',
    );
    const { id: other } = await admin();
    expect((await demote(identity, await world.createTestCommand(), id)).after.role).toBe('viewer');
    expect(await activeAdmins()).toEqual([other]);
  });

  it('is not replaced by an invited or deactivated admin, or by one of another workspace', async () => {
    const { id } = await admin();
    await admin('other');
    const invited = await identity.users.inviteUser(await world.createTestCommand(), {
      email: 'jo@example.com',
      role: 'admin',
    });
    const gone = await admin();
    await identity.users.deactivateUser(await world.createTestCommand(), gone.id);
    expect((await captureRefusal(demote(identity, await world.createTestCommand(), id))).code).toBe('last_admin');
    const at = new Date(world.time.now).toISOString();
    await identity.links.redeemOneTimeLink({ id: 'joins', at }, invited.link.token, { name: 'Jo', password: PASSWORD });
    expect((await identity.users.deactivateUser(await world.createTestCommand(), id)).after.status).toBe('deactivated');
    expect((await captureRefusal(demote(identity, await world.createTestCommand(), invited.after.id))).code).toBe(
      'last_admin',
    );
    await identity.users.reactivateUser(await world.createTestCommand(), gone.id);
    expect((await demote(identity, await world.createTestCommand(), invited.after.id)).after.role).toBe('viewer');
    expect(await activeAdmins()).toEqual([gone.id]);
  });

  it('stays if two admins demote each other at once on two replicas, in any order of steps', async () => {
    const interleaved = (seed: number) =>
      world.openIdentityReplica({
        documentStore: createStoreWithStepHook(world.documentStore, createRandomDelays(seed)),
      });
    let took = new Set<string>();
    for (let seed = 1; seed <= choosePropertyTestRounds(60); seed += 1) {
      const workspace = `round ${seed}`;
      const [one, two] = [await admin(workspace), await admin(workspace)];
      const [here, there] = [await interleaved(seed), await interleaved(seed + 1_000)];
      const [first, second] = [
        await world.createTestCommand({ workspace }),
        await world.createTestCommand({ workspace }),
      ];
      const outcomes = await Promise.allSettled([
        demote(here, first, two.id),
        seed % 2 === 0 ? demote(there, second, one.id) : there.users.deactivateUser(second, one.id),
      ]);
      const left = await activeAdmins(workspace);
      expect(left).toHaveLength(1);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const refused = outcomes.find((each) => each.status === 'rejected');
      expect(refused?.reason).toMatchObject({ code: 'last_admin' });
      took = took.add(left[0] === one.id ? 'the first' : 'the second');
    }
    // Each of the two came first at times, so the order of the steps did vary.
    expect(took.size).toBe(2);
  });

  it('stays under concurrent demotions, deactivations, promotions and reactivations', async () => {
    for (let seed = 1; seed <= choosePropertyTestRounds(15); seed += 1) {
      const workspace = `crowd ${seed}`;
      const admins = [await admin(workspace), await admin(workspace), await admin(workspace), await admin(workspace)];
      const replicas = await Promise.all(
        [1, 2, 3].map((each) =>
          world.openIdentityReplica({
            documentStore: createStoreWithStepHook(world.documentStore, createRandomDelays(seed * 10 + each)),
          }),
        ),
      );
      const changes = admins.flatMap(({ id }, index) => [
        async (by: IdentityServices) => demote(by, await world.createTestCommand({ workspace }), id),
        async (by: IdentityServices) => by.users.deactivateUser(await world.createTestCommand({ workspace }), id),
        ...(index === 0
          ? [
              async (by: IdentityServices) =>
                by.users.changeUser(await world.createTestCommand({ workspace }), id, { role: 'admin' }),
              async (by: IdentityServices) => by.users.reactivateUser(await world.createTestCommand({ workspace }), id),
            ]
          : []),
      ]);
      const outcomes = await Promise.allSettled(
        changes.map((change, index) => change(replicas[index % replicas.length] ?? identity)),
      );
      const failures = outcomes.flatMap((each) =>
        each.status === 'rejected' ? [each.reason as { code: string }] : [],
      );
      expect(failures.filter(({ code }) => code !== 'last_admin')).toEqual([]);
      expect((await activeAdmins(workspace)).length).toBeGreaterThanOrEqual(1);
    }
  });

  it('stays if the process ends after any step of a demotion, which is then either done or not', async () => {
    let steps = 0;
    for (let alive = 0; ; alive += 1) {
      const workspace = `crash ${alive}`;
      const [one, two] = [await admin(workspace), await admin(workspace)];
      const command = await world.createTestCommand({ workspace });
      let left = Infinity;
      const dying = await world.openIdentityReplica({
        documentStore: createStoreWithStepHook(world.documentStore, async () => {
          left -= 1;
          if (left < 0) throw new UnavailableError('document store', 'gone');
        }),
      });
      left = alive;
      const outcome = await demote(dying, command, one.id).then(
        () => 'done',
        () => 'died',
      );
      // The next command completes the interrupted change.
      const next = await world.openIdentityReplica();
      const settled = await activeAdmins(workspace);
      expect([[one.id, two.id], [two.id]]).toContainEqual(settled);
      const back = await Promise.allSettled([demote(next, await world.createTestCommand({ workspace }), two.id)]);
      const afterwards = await activeAdmins(workspace);
      expect(afterwards).toHaveLength(1);
      expect(back[0].status).toBe(settled.length === 2 ? 'fulfilled' : 'rejected');
      // The repeat of the first command returns its result, or is refused now.
      const repeated = await Promise.allSettled([demote(next, command, one.id)]);
      expect(repeated[0].status).toBe(settled.length === 2 ? 'rejected' : 'fulfilled');
      if (outcome === 'done') break;
      steps += 1;
    }
    // The process ended once between each two steps.
    expect(steps).toBeGreaterThanOrEqual(5);
  });

  it('is settled by the next change of a user, without a restart', async () => {
    const [one, two] = [await admin(), await admin()];
    const command = await world.createTestCommand();
    let writes = Infinity;
    const failing = await world.openIdentityReplica({
      documentStore: createStoreWithStepHook(world.documentStore, async (operation) => {
        if (!['insert', 'replace', 'claim'].includes(operation)) return;
        writes -= 1;
        if (writes < 0) throw new UnavailableError('document store', 'gone');
      }),
    });
    writes = 1;
    await expect(demote(failing, command, one.id)).rejects.toThrow('gone');
    expect(await activeAdmins()).toHaveLength(2);
    expect((await captureRefusal(demote(identity, await world.createTestCommand(), two.id))).code).toBe('last_admin');
    expect(await activeAdmins()).toEqual([two.id]);
    expect((await demote(identity, command, one.id)).after).toMatchObject({ id: one.id, role: 'viewer', version: 2 });
  });
});

describe('the first admin', () => {
  let world: Awaited<ReturnType<typeof openIdentityReplicas>>;
  let identity: IdentityServices;

  beforeEach(async () => {
    world = await openIdentityReplicas();
    identity = await world.openIdentityReplica();
  });
  afterEach(() => world.close());

  const at = () => new Date(world.time.now).toISOString();
  const use = { name: 'Jo', email: 'jo@example.com', password: PASSWORD };

  it('is the user of the one-time link, which every replica shows alike', async () => {
    const links = await Promise.all([
      identity.firstAdmin.getFirstAdminLink(),
      (await world.openIdentityReplica()).firstAdmin.getFirstAdminLink(),
    ]);
    world.time.now += 86_400_000;
    const later = await (await world.openIdentityReplica()).firstAdmin.getFirstAdminLink();
    expect(links).toEqual([later, later]);
    const token = later?.token ?? '';
    expect(await identity.links.getLinkDetails(token)).toEqual({
      purpose: 'first_admin',
      workspace_id: (await world.createTestCommand()).workspace_id,
      email: null,
      role: 'admin',
      expires_at: '2026-03-08T12:00:00.000Z',
    });
    for (const missing of ['name', 'email'] as const) {
      const { [missing]: _without, ...rest } = use;
      const error = await captureRefusal(identity.links.redeemOneTimeLink({ id: 'x', at: at() }, token, rest));
      expect(error.details).toMatchObject([{ param: missing, code: 'required' }]);
    }
    const { after } = await identity.links.redeemOneTimeLink({ id: 'first', at: at() }, token, use);
    expect(after).toMatchObject({ name: 'Jo', email: 'jo@example.com', role: 'admin', status: 'active' });
    expect(await identity.links.redeemOneTimeLink({ id: 'first', at: at() }, token, use)).toEqual({
      before: null,
      after,
    });
    expect((await captureRefusal(identity.links.getLinkDetails(token))).code).toBe('not_found');
    expect((await captureRefusal(identity.links.redeemOneTimeLink({ id: 'second', at: at() }, token, use))).code).toBe(
      'not_found',
    );
    expect(await identity.firstAdmin.getFirstAdminLink()).toBeUndefined();
    expect(await world.content()).not.toContain(token);
  });

  it('gets a new link if the former one is valid for less than a day', async () => {
    const first = await identity.firstAdmin.getFirstAdminLink();
    world.time.now += 6 * 86_400_000 + 1;
    const second = await identity.firstAdmin.getFirstAdminLink();
    expect(second?.token).not.toBe(first?.token);
    expect((await captureRefusal(identity.links.getLinkDetails(first?.token ?? ''))).code).toBe('not_found');
    expect(await identity.links.getLinkDetails(second?.token ?? '')).toMatchObject({ purpose: 'first_admin' });
  });

  it('is created once, however many clients use the link at once', async () => {
    const replicas = [identity, await world.openIdentityReplica()];
    const link = await identity.firstAdmin.getFirstAdminLink();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, async (_each, index) =>
        (replicas[index % 2] ?? identity).links.redeemOneTimeLink({ id: `use ${index}`, at: at() }, link?.token ?? '', {
          ...use,
          email: `jo${index}@example.com`,
        }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await identity.users.listWorkspaceUsers((await world.createTestCommand()).workspace_id)).toHaveLength(1);
  });

  it('is created from an e-mail address and a password once, by any replica, and never beside another admin', async () => {
    const other = await world.openIdentityReplica();
    const given = { email: 'ops@example.com', password: PASSWORD };
    await Promise.all([
      identity.firstAdmin.createFirstAdminIfMissing(given),
      other.firstAdmin.createFirstAdminIfMissing(given),
    ]);
    expect(
      await identity.firstAdmin.createFirstAdminIfMissing({ ...given, email: 'else@example.com' }),
    ).toBeUndefined();
    expect(await identity.firstAdmin.getFirstAdminLink()).toBeUndefined();
    const users = await identity.users.listWorkspaceUsers((await world.createTestCommand()).workspace_id);
    expect(users).toMatchObject([{ email: 'ops@example.com', role: 'admin', status: 'active' }]);
  });

  it('has a valid password, and an e-mail address that no other user has', async () => {
    const weak = identity.firstAdmin.createFirstAdminIfMissing({ email: 'ops@example.com', password: 'password123' });
    expect((await captureRefusal(weak)).details).toMatchObject([{ param: 'password' }]);
    await identity.users.inviteUser(await world.createTestCommand(), { email: 'ops@example.com', role: 'viewer' });
    const taken = identity.firstAdmin.createFirstAdminIfMissing({ email: 'ops@example.com', password: PASSWORD });
    expect((await captureRefusal(taken)).code).toBe('user_exists');
  });
});
