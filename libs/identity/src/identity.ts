import { randomBytes as strongRandomBytes } from 'node:crypto';
import type { Clock, DocumentStore, Logger } from '@tracking/ports';
import { ApiKeys } from './api-keys.ts';
import type { ApiKeyDocument } from './api-key-document.ts';
import { AuditLog } from './audit-log.ts';
import { KeyAuthentication } from './key-authentication.ts';
import { KeyOwners } from './key-owners.ts';
import type { Owner } from './key-owners.ts';
import type { Principal } from './principal.ts';
import type { RandomBytes } from './secrets.ts';
import { ServiceAccounts } from './service-accounts.ts';
import { Workspaces } from './workspaces.ts';

export interface IdentityOptions {
  readonly documentStore: DocumentStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What keys and link tokens derive from; 32 bytes, the same on every replica. */
  readonly secret: Uint8Array;
  readonly randomBytes?: RandomBytes;
  /** Monotonic time in milliseconds. */
  readonly elapsed?: () => number;
}

/**
 * Workspaces, service accounts with one role each, and API keys of them and of users. Primary records in the document
 * store: backed up, never derived from events.
 */
export class Identity {
  private constructor(
    readonly workspaces: Workspaces,
    readonly serviceAccounts: ServiceAccounts,
    readonly keys: ApiKeys,
    readonly auditLog: AuditLog,
    private readonly keyAuthentication: KeyAuthentication,
  ) {}

  /** Makes the workspace `default` at the first start. */
  static async open(options: IdentityOptions): Promise<Identity> {
    const { documentStore, clock, logger, secret } = options;
    const { randomBytes = strongRandomBytes, elapsed = () => performance.now() } = options;
    const forgetOwner = (ownerId: string) => keyAuthentication.forgetOwner(ownerId);
    const workspaces = await Workspaces.open(documentStore, clock, randomBytes);
    const serviceAccounts = await ServiceAccounts.open(documentStore, forgetOwner);
    const users = await documentStore.collection<Owner & { readonly name: string | null }>({
      name: 'users',
      indexes: [],
    });
    const owners = new KeyOwners(serviceAccounts, users);
    const onChanged = (key: ApiKeyDocument) => keyAuthentication.forget(key);
    const keys = await ApiKeys.open(documentStore, { owners, secret, onChanged });
    const keyAuthentication = new KeyAuthentication({ keys: keys.documents, owners, clock, logger, elapsed });
    const auditLog = await AuditLog.open(documentStore, async (actors) => {
      const ids = [...new Set(actors.map(({ id }) => id))];
      const known = await Promise.all([users.getMany(ids), serviceAccounts.getMany(ids)]);
      return new Map(known.flat().map(({ id, name }) => [id, name]));
    });
    return new Identity(workspaces, serviceAccounts, keys, auditLog, keyAuthentication);
  }

  /**
   * Whose key it is; undefined for one that is unknown, revoked, expired, of an owner who is not active, or no key at
   * all, without telling which.
   * @throws Unavailable when the document store does not answer
   */
  authenticateKey(key: string): Promise<Principal | undefined> {
    return this.keyAuthentication.authenticate(key);
  }

  /** Lets writes under way finish; before the document store is closed. */
  close(): Promise<void> {
    return this.keyAuthentication.close();
  }
}
