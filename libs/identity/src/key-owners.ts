import { DomainError } from '@tracking/contracts';
import type { KeyOwner, Role } from '@tracking/contracts';
import { noSuch } from './identity-command.ts';
import type { ServiceAccounts } from './service-accounts.ts';

/** A user or service account, as far as keys know it. */
export interface Owner {
  readonly id: string;
  readonly workspace_id: string;
  readonly role: Role;
  /** Only while it is `active` its keys are valid. */
  readonly status: string;
}

/** Where users are looked up. */
export interface KeyUsers {
  /** Those that exist, in no particular order. */
  getMany(ids: readonly string[]): Promise<readonly Owner[]>;
}

/** Who has keys: what they may do now is what their keys may. */
export class KeyOwners {
  constructor(
    private readonly accounts: Pick<ServiceAccounts, 'getMany'>,
    private readonly users: KeyUsers,
  ) {}

  async get(owner: KeyOwner): Promise<Owner | undefined> {
    return (await this.getMany([owner])).get(owner.id);
  }

  /** By their ids. */
  async getMany(owners: readonly KeyOwner[]): Promise<ReadonlyMap<string, Owner>> {
    const idsOf = (type: KeyOwner['type']) => [
      ...new Set(owners.filter((one) => one.type === type).map(({ id }) => id)),
    ];
    const [accounts, users] = [idsOf('service_account'), idsOf('user')];
    const found = await Promise.all([
      accounts.length > 0 ? this.accounts.getMany(accounts) : [],
      users.length > 0 ? this.users.getMany(users) : [],
    ]);
    return new Map(found.flat().map((owner) => [owner.id, owner]));
  }

  /** One that may get keys. @throws DomainError `not_found`, also in another workspace; `user_not_active` */
  async active(workspaceId: string, owner: KeyOwner): Promise<Owner> {
    const found = await this.get(owner);
    const name = owner.type === 'user' ? 'user' : 'service account';
    if (found?.workspace_id !== workspaceId) throw noSuch(name);
    if (found.status === 'active') return found;
    throw new DomainError('user_not_active', `The ${name} is not active: it has no valid keys.`);
  }
}
