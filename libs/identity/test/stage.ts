import { randomUUID } from 'node:crypto';
import { DomainError } from '@tracking/contracts';
import type { Actor, ApiKey, KeyOwner, NewApiKey, Role, ServiceAccount } from '@tracking/contracts';
import type { DocumentStore } from '@tracking/ports';
import { silentLogger } from '@tracking/testing';
import { DEFAULT_WORKSPACE, EVERY_KEY, Identity } from '../src/index.ts';
import type { IdentityCommand, NewKeyRequest } from '../src/index.ts';
import { openStorage } from './storage.ts';
import type { Storage } from './storage.ts';

const OPERATOR: Actor = { type: 'system', id: 'administration' };
const SECRET = Buffer.alloc(32, 5);

/** Replicas over one document store, with a clock that stands still unless told. */
export class Stage {
  now = Date.parse('2026-03-01T12:00:00.000Z');
  private readonly replicas: Identity[] = [];

  private constructor(
    readonly storage: Storage,
    readonly workspace_id: string,
  ) {}

  static async open(): Promise<Stage> {
    const storage = await openStorage();
    const stage = new Stage(storage, '');
    const workspace = await (await stage.replica()).workspaces.find(DEFAULT_WORKSPACE);
    return Object.assign(stage, { workspace_id: workspace?.id ?? '' });
  }

  async close(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.close()));
    await this.storage.close();
  }

  async replica(documentStore: DocumentStore = this.storage.documentStore): Promise<Identity> {
    const clock = () => new Date(this.now);
    const elapsed = () => this.now;
    const replica = await Identity.open({ documentStore, clock, elapsed, logger: silentLogger, secret: SECRET });
    this.replicas.push(replica);
    return replica;
  }

  command(more: Partial<IdentityCommand> = {}): IdentityCommand {
    const { workspace_id } = this;
    return { id: randomUUID(), at: new Date(this.now).toISOString(), actor: OPERATOR, workspace_id, ...more };
  }

  async account(
    identity: Identity,
    role: Role = 'operator',
    workspace_id = this.workspace_id,
  ): Promise<ServiceAccount> {
    const command = this.command({ workspace_id });
    return (await identity.serviceAccounts.create(command, { name: `the ${role}`, role })).after;
  }

  /** An active user, as keys know one. */
  async user(role: Role = 'operator'): Promise<string> {
    const users = await this.storage.documentStore.collection({ name: 'users', indexes: [] });
    const id = `usr_${randomUUID()}`;
    const { workspace_id } = this;
    await users.insert({
      id,
      workspace_id,
      role,
      status: 'active',
      version: 1,
      changed_by: 'x',
      changed_from: null,
    } as never);
    return id;
  }

  async key(identity: Identity, owner: KeyOwner, more: Partial<NewKeyRequest> = {}): Promise<NewApiKey> {
    const command = this.command();
    const request = { name: 'TMS', environment: 'live' as const, owner, ...more };
    return (await identity.keys.create(command, EVERY_KEY, request)).after;
  }

  /** A service account and a key of it. */
  async accountKey(identity: Identity, role?: Role, more?: Partial<NewKeyRequest>): Promise<NewApiKey> {
    const { id } = await this.account(identity, role);
    return this.key(identity, { type: 'service_account', id }, more);
  }

  async revoke(identity: Identity, { id }: Pick<ApiKey, 'id'>): Promise<ApiKey> {
    return (await identity.keys.revoke(this.command(), EVERY_KEY, id)).after;
  }
}

/** The refusal that it ends with. */
export async function refusal(outcome: Promise<unknown>): Promise<DomainError> {
  const error = await outcome.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DomainError);
  return error as DomainError;
}
