import { delayStoreReads } from '@tracking/testing';
import { refusal } from '../test/replicas.ts';
import { Stage } from '../test/stage.ts';
import type { Identity } from './index.ts';
import { permissionsOf } from './index.ts';

describe('service accounts', () => {
  let stage: Stage;
  let identity: Identity;
  beforeAll(async () => {
    stage = await Stage.open();
    identity = await stage.replica();
  });
  afterAll(() => stage.close());
  beforeEach(() => stage.enterWorkspace(identity));

  it('are created once, however often the command is repeated', async () => {
    const command = stage.command();
    const [first, again] = await Promise.all(
      [1, 2].map(() => identity.serviceAccounts.create(command, { name: ' TMS ', role: 'feed' })),
    );
    expect(again).toEqual(first);
    expect(first?.after).toMatchObject({ id: expect.stringMatching(/^sva_/), name: 'TMS', role: 'feed', version: 1 });
    const { items } = await identity.serviceAccounts.list(stage.workspace_id, { limit: 10 });
    expect(items).toEqual([first?.after]);
  });

  it('are changed at the expected version, and return their former state', async () => {
    const made = await stage.account(identity, 'feed');
    const command = stage.command({ if_match: [1] });
    const changed = await identity.serviceAccounts.change(command, made.id, { name: 'ERP', role: 'operator' });
    expect(changed.before).toEqual(made);
    expect(changed.after).toEqual({ ...made, name: 'ERP', role: 'operator', version: 2 });
    // A repeat has already taken effect, whatever the version is now.
    expect(await identity.serviceAccounts.change(command, made.id, { name: 'ERP', role: 'operator' })).toEqual(changed);
    const late = identity.serviceAccounts.change(stage.command({ if_match: [1] }), made.id, { name: 'late' });
    expect((await refusal(late)).code).toBe('precondition_failed');
  });

  it('keep their version if nothing changes', async () => {
    const made = await stage.account(identity, 'feed');
    const same = await identity.serviceAccounts.change(stage.command(), made.id, { role: 'feed' });
    expect(same).toEqual({ before: made, after: made });
    const active = await identity.serviceAccounts.reactivate(stage.command(), made.id);
    expect(active.after).toEqual(made);
  });

  it('lose no concurrent change if reads lag behind writes', async () => {
    const lagging = await stage.replica(delayStoreReads(stage.storage.documentStore));
    const { id } = await stage.account(lagging);
    const names = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
    await Promise.all(names.map((name) => lagging.serviceAccounts.change(stage.command(), id, { name })));
    expect((await lagging.serviceAccounts.get(stage.workspace_id, id)).version).toBe(1 + names.length);
  });

  it('lose no concurrent change', async () => {
    const { id } = await stage.account(identity, 'feed');
    const other = await stage.replica();
    await Promise.all([
      identity.serviceAccounts.change(stage.command(), id, { name: 'ERP' }),
      other.serviceAccounts.change(stage.command(), id, { role: 'operator' }),
      identity.serviceAccounts.deactivate(stage.command(), id),
    ]);
    expect(await identity.serviceAccounts.get(stage.workspace_id, id)).toMatchObject({
      name: 'ERP',
      role: 'operator',
      status: 'deactivated',
      version: 4,
    });
  });

  it('apply their role to all their keys immediately', async () => {
    const made = await stage.accountKey(identity, 'feed');
    expect((await identity.authenticateKey(made.key))?.permissions).toEqual(permissionsOf('feed', 'live'));
    await identity.serviceAccounts.change(stage.command(), made.owner.id, { role: 'viewer' });
    expect((await identity.authenticateKey(made.key))?.permissions).toEqual(permissionsOf('viewer', 'live'));
  });

  it('refuse their keys only while they are deactivated; revoked keys stay so', async () => {
    const made = await stage.accountKey(identity);
    const revoked = await stage.key(identity, made.owner);
    await stage.revoke(identity, revoked);
    expect(await identity.authenticateKey(made.key)).toBeDefined();
    await identity.serviceAccounts.deactivate(stage.command(), made.owner.id);
    expect(await identity.authenticateKey(made.key)).toBeUndefined();
    await identity.serviceAccounts.reactivate(stage.command(), made.owner.id);
    expect(await identity.authenticateKey(made.key)).toBeDefined();
    expect(await identity.authenticateKey(revoked.key)).toBeUndefined();
  });

  it('of another workspace are not found', async () => {
    const { id } = await stage.account(identity);
    const { id: workspace_id } = await identity.workspaces.create(`other of ${stage.workspace_id}`);
    const foreign = stage.command({ workspace_id });
    for (const attempt of [
      identity.serviceAccounts.get(workspace_id, id),
      identity.serviceAccounts.change(foreign, id, { name: 'mine' }),
      identity.serviceAccounts.deactivate(foreign, id),
    ]) {
      expect((await refusal(attempt)).code).toBe('not_found');
    }
    expect((await identity.serviceAccounts.list(workspace_id, { limit: 10 })).items).toEqual([]);
  });
});
