import { randomUUID } from 'node:crypto';
import type { Actor, ApiKey, KeyOwner, CreatedApiKeyWithSecret, Role, ServiceAccount, User } from '@tracking/contracts';
import type { DocumentStore } from '@tracking/ports';
import { silentLogger } from '@tracking/testing';
import { ACCESS_TO_ALL_KEYS, IdentityServices } from '../src/index.ts';
import type { IdentityCommand, NewKeyRequest } from '../src/index.ts';
import { CHEAP_HASH_COST } from './replicas.ts';
import { openTestStorage } from './storage.ts';
import type { TestStorage } from './storage.ts';

const SYSTEM_ADMINISTRATION_ACTOR: Actor = { type: 'system', id: 'administration' };
const SAMPLE_KEY_DERIVATION_SECRET = Buffer.alloc(32, 5);

/** Replicas over one document store, with a clock that only tests advance. */
export class IdentityTestHarness {
  now = Date.parse('2026-03-01T12:00:00.000Z');
  private readonly replicas: IdentityServices[] = [];

  workspace_id = '';

  private constructor(readonly storage: TestStorage) {}

  static async openIdentityHarness(): Promise<IdentityTestHarness> {
    const storage = await openTestStorage();
    const harness = new IdentityTestHarness(storage);
    await harness.createWorkspaceForTest(await harness.openIdentityServicesForTest());
    return harness;
  }

  /** Starts a new workspace for the following steps. */
  async createWorkspaceForTest(identity: IdentityServices): Promise<void> {
    this.workspace_id = (await identity.workspaces.createWorkspace(randomUUID())).id;
  }

  async closeIdentityHarness(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.closeIdentityAfterPendingWrites()));
    await this.storage.close();
  }

  async openIdentityServicesForTest(
    documentStore: DocumentStore = this.storage.documentStore,
  ): Promise<IdentityServices> {
    const clock = () => new Date(this.now);
    const elapsed = () => this.now;
    const passwords = { cost: CHEAP_HASH_COST };
    const logger = silentLogger;
    const replica = await IdentityServices.openIdentity({
      documentStore,
      clock,
      elapsed,
      logger,
      secret: SAMPLE_KEY_DERIVATION_SECRET,
      passwords,
    });
    this.replicas.push(replica);
    return replica;
  }

  createSampleIdentityCommand(more: Partial<IdentityCommand> = {}): IdentityCommand {
    const { workspace_id } = this;
    return {
      id: randomUUID(),
      at: new Date(this.now).toISOString(),
      actor: SYSTEM_ADMINISTRATION_ACTOR,
      workspace_id,
      ...more,
    };
  }

  async createServiceAccount(
    identity: IdentityServices,
    role: Role = 'operator',
    workspace_id = this.workspace_id,
  ): Promise<ServiceAccount> {
    const command = this.createSampleIdentityCommand({ workspace_id });
    return (await identity.serviceAccounts.createServiceAccount(command, { name: `the ${role}`, role })).after;
  }

  async createUser(identity: IdentityServices, role: Role = 'operator'): Promise<User> {
    const command = this.createSampleIdentityCommand();
    const email = `${command.id}@example.com`;
    return (await identity.users.createUser(command, { email, role, password: 'some long password' })).after;
  }

  async createKey(
    identity: IdentityServices,
    owner: KeyOwner,
    more: Partial<NewKeyRequest> = {},
  ): Promise<CreatedApiKeyWithSecret> {
    const command = this.createSampleIdentityCommand();
    const request = { name: 'TMS', environment: 'live' as const, owner, ...more };
    return (await identity.keys.createKey(command, ACCESS_TO_ALL_KEYS, request)).after;
  }

  /** A service account with one key. */
  async createServiceAccountWithKey(
    identity: IdentityServices,
    role?: Role,
    more?: Partial<NewKeyRequest>,
  ): Promise<CreatedApiKeyWithSecret> {
    const { id } = await this.createServiceAccount(identity, role);
    return this.createKey(identity, { type: 'service_account', id }, more);
  }

  async revokeKey(identity: IdentityServices, { id }: Pick<ApiKey, 'id'>): Promise<ApiKey> {
    return (await identity.keys.revokeKey(this.createSampleIdentityCommand(), ACCESS_TO_ALL_KEYS, id)).after;
  }
}
