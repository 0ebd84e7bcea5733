import { randomBytes as strongRandomBytes } from 'node:crypto';
import type { Clock, DocumentStore, Logger } from '@tracking/ports';
import { ApiKeys } from './api-keys.ts';
import { KeyAuthentication } from './key-authentication.ts';
import type { Principal } from './principal.ts';
import type { RandomBytes } from './secrets.ts';
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
 * Workspaces, service accounts with one role each, and their API keys. Primary records in the document store: backed
 * up, never derived from events.
 */
export class Identity {
  private constructor(
    readonly workspaces: Workspaces,
    readonly keys: ApiKeys,
    private readonly keyAuthentication: KeyAuthentication,
  ) {}

  /** Makes the workspace `default` at the first start. */
  static async open(options: IdentityOptions): Promise<Identity> {
    const { documentStore, clock, logger } = options;
    const { randomBytes = strongRandomBytes, elapsed = () => performance.now() } = options;
    const [workspaces, keys] = await Promise.all([
      Workspaces.open(documentStore, clock, randomBytes),
      ApiKeys.open(documentStore, { clock, randomBytes, onRevoked: (key) => keyAuthentication.forget(key) }),
    ]);
    const keyAuthentication: KeyAuthentication = new KeyAuthentication({
      keys: keys.documents,
      accounts: keys.accounts,
      clock,
      logger,
      elapsed,
    });
    return new Identity(workspaces, keys, keyAuthentication);
  }

  /**
   * Whose key it is; undefined for one that is unknown, revoked or no key at all, without telling which.
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
