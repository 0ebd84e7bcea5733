import { delayStoreReads } from '@tracking/testing';
import { captureRefusal } from '../test/replicas.ts';
import { IdentityTestHarness } from '../test/identity-test-harness.ts';
import type { IdentityServices } from './index.ts';
import { getPermissionsOfRole } from './index.ts';

describe('service accounts', () => {
  let harness: IdentityTestHarness;
  let identity: IdentityServices;
  beforeAll(async () => {
    harness = await IdentityTestHarness.openIdentityHarness();
    identity = await harness.openIdentityServicesForTest();
  });
  afterAll(() => harness.closeIdentityHarness());
  beforeEach(() => harness.createWorkspaceForTest(identity));

  it('are created once, however often the command is repeated', async () => {
    const command = harness.createSampleIdentityCommand();
    const [first, again] = await Promise.all(
      [1, 2].map(() => identity.serviceAccounts.createServiceAccount(command, { name: ' TMS ', role: 'feed' })),
    );
    expect(again).toEqual(first);
    expect(first?.after).toMatchObject({ id: expect.stringMatching(/^sva_/), name: 'TMS', role: 'feed', version: 1 });
    const { items } = await identity.serviceAccounts.listServiceAccounts(harness.workspace_id, { limit: 10 });
    expect(items).toEqual([first?.after]);
  });

  it('are changed at the expected version, and return their former state', async () => {
    const made = await harness.createServiceAccount(identity, 'feed');
    const command = harness.createSampleIdentityCommand({ if_match: [1] });
    const changed = await identity.serviceAccounts.changeServiceAccount(command, made.id, {
      name: 'ERP',
      role: 'operator',
    });
    expect(changed.before).toEqual(made);
    expect(changed.after).toEqual({ ...made, name: 'ERP', role: 'operator', version: 2 });
    // A repeat has already taken effect, whatever the version is now.
    expect(
      await identity.serviceAccounts.changeServiceAccount(command, made.id, { name: 'ERP', role: 'operator' }),
    ).toEqual(changed);
    const late = identity.serviceAccounts.changeServiceAccount(
      harness.createSampleIdentityCommand({ if_match: [1] }),
      made.id,
      {
        name: 'late',
      },
    );
    expect((await captureRefusal(late)).code).toBe('precondition_failed');
  });

  it('keep their version if nothing changes', async () => {
    const made = await harness.createServiceAccount(identity, 'feed');
    const same = await identity.serviceAccounts.changeServiceAccount(harness.createSampleIdentityCommand(), made.id, {
      role: 'feed',
    });
    expect(same).toEqual({ before: made, after: made });
    const active = await identity.serviceAccounts.reactivateServiceAccount(
      harness.createSampleIdentityCommand(),
      made.id,
    );
    expect(active.after).toEqual(made);
  });

  it('lose no concurrent change if reads lag behind writes', async () => {
    const lagging = await harness.openIdentityServicesForTest(delayStoreReads(harness.storage.documentStore));
    const { id } = await harness.createServiceAccount(lagging);
    const names = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
    await Promise.all(
      names.map((name) =>
        lagging.serviceAccounts.changeServiceAccount(harness.createSampleIdentityCommand(), id, { name }),
      ),
    );
    expect((await lagging.serviceAccounts.getServiceAccount(harness.workspace_id, id)).version).toBe(1 + names.length);
  });

  it('lose no concurrent change', async () => {
    const { id } = await harness.createServiceAccount(identity, 'feed');
    const other = await harness.openIdentityServicesForTest();
    await Promise.all([
      identity.serviceAccounts.changeServiceAccount(harness.createSampleIdentityCommand(), id, { name: 'ERP' }),
      other.serviceAccounts.changeServiceAccount(harness.createSampleIdentityCommand(), id, { role: 'operator' }),
      identity.serviceAccounts.deactivateServiceAccount(harness.createSampleIdentityCommand(), id),
    ]);
    expect(await identity.serviceAccounts.getServiceAccount(harness.workspace_id, id)).toMatchObject({
      name: 'ERP',
      role: 'operator',
      status: 'deactivated',
      version: 4,
    });
  });

  it('apply their role to all their keys immediately', async () => {
    const made = await harness.createServiceAccountWithKey(identity, 'feed');
    expect((await identity.authenticateKey(made.key))?.permissions).toEqual(getPermissionsOfRole('feed', 'live'));
    await identity.serviceAccounts.changeServiceAccount(harness.createSampleIdentityCommand(), made.owner.id, {
      role: 'viewer',
    });
    expect((await identity.authenticateKey(made.key))?.permissions).toEqual(getPermissionsOfRole('viewer', 'live'));
  });

  it('refuse their keys only while they are deactivated; revoked keys stay so', async () => {
    const made = await harness.createServiceAccountWithKey(identity);
    const revoked = await harness.createKey(identity, made.owner);
    await harness.revokeKey(identity, revoked);
    expect(await identity.authenticateKey(made.key)).toBeDefined();
    await identity.serviceAccounts.deactivateServiceAccount(harness.createSampleIdentityCommand(), made.owner.id);
    expect(await identity.authenticateKey(made.key)).toBeUndefined();
    await identity.serviceAccounts.reactivateServiceAccount(harness.createSampleIdentityCommand(), made.owner.id);
    expect(await identity.authenticateKey(made.key)).toBeDefined();
    expect(await identity.authenticateKey(revoked.key)).toBeUndefined();
  });

  it('of another workspace are not found', async () => {
    const { id } = await harness.createServiceAccount(identity);
    const { id: workspace_id } = await identity.workspaces.createWorkspace(`other of ${harness.workspace_id}`);
    const foreign = harness.createSampleIdentityCommand({ workspace_id });
    for (const attempt of [
      identity.serviceAccounts.getServiceAccount(workspace_id, id),
      identity.serviceAccounts.changeServiceAccount(foreign, id, { name: 'mine' }),
      identity.serviceAccounts.deactivateServiceAccount(foreign, id),
    ]) {
      expect((await captureRefusal(attempt)).code).toBe('not_found');
    }
    expect((await identity.serviceAccounts.listServiceAccounts(workspace_id, { limit: 10 })).items).toEqual([]);
  });
});
