import { Unavailable } from '@tracking/ports';
import type { CollectionSpec, DocumentStore } from '@tracking/ports';
import type { ApiDependencies } from './features.ts';

/** The methods that change stored data. */
const STORE_WRITE_METHODS = ['insert', 'replace', 'replaceMany', 'delete', 'upsert', 'writeMany', 'claim'] as const;
const COMMAND_METHODS = {
  shipments: [
    ...(['upsertShipment', 'recordMilestone', 'cancelShipment', 'reopenShipment'] as const),
    ...(['openException', 'acknowledgeException', 'resolveException'] as const),
    ...(['addDocument', 'requestUpload', 'completeUpload', 'approveDocument', 'rejectDocument'] as const),
  ],
  objects: ['putObject'],
  endpoints: ['create', 'verify', 'enable', 'disable', 'test', 'rotateSecret', 'revealSecret'],
  deliveries: ['retry', 'discard'],
  replays: ['create', 'cancel', 'resume'],
  deadLetters: ['replay', 'discard'],
  serviceAccounts: ['createAccount', 'deactivateAccount', 'reactivateAccount'],
  keys: ['createKey', 'rotateKey', 'revokeKey'],
  users: ['inviteUser', 'deactivateUser', 'reactivateUser', 'resetPassword'],
  links: ['useOneTimeLink'],
  userPasswords: ['changePassword'],
  sessions: ['renewSession'],
  auditLog: ['beginAuditEntry', 'completeAuditEntry', 'withdrawEntry'],
} as const;

/**
 * Gateway that can crash like a process that gets `kill -9`: after the crash, no call of the gateway has an effect or a
 * result, and its responses to clients count as not sent.
 */
export class CrashingGateway {
  isDead = false;
  private steps = 0;
  private dieAt = Infinity;
  private before = true;

  /**
   * Restarts the gateway, and sets when it crashes next.
   * @param dieAt number of the call, from 1, at which the gateway crashes
   * @param before true to crash before the call has its effect, false to crash after the effect but before the result
   */
  restartGateway(dieAt: number, before: boolean): void {
    Object.assign(this, { isDead: false, steps: 0, dieAt, before });
  }

  /** Returns a document store for claims. Its calls fail after the crash. */
  makeStoreFailAfterCrash(store: DocumentStore): DocumentStore {
    const collection = async (spec: CollectionSpec) =>
      this.wrapWrites(await store.collection(spec), STORE_WRITE_METHODS);
    return new Proxy(store, {
      get: (of, name: keyof DocumentStore) => (name === 'collection' ? collection : of[name].bind(of)),
    });
  }

  /** Returns the features of the gateway. Their calls fail after the crash. */
  wrapFeatures({ shipments, objects, webhooks, identity }: ApiDependencies): Partial<ApiDependencies> {
    const { serviceAccounts, keys, users, links, userPasswords, sessions, auditLog } = identity;
    const mortal = {
      serviceAccounts: this.wrapWrites(serviceAccounts, COMMAND_METHODS.serviceAccounts),
      keys: this.wrapWrites(keys, COMMAND_METHODS.keys),
      users: this.wrapWrites(users, COMMAND_METHODS.users),
      links: this.wrapWrites(links, COMMAND_METHODS.links),
      userPasswords: this.wrapWrites(userPasswords, COMMAND_METHODS.userPasswords),
      sessions: this.wrapWrites(sessions, COMMAND_METHODS.sessions),
      signIn: (...of: Parameters<typeof identity.signIn>) => this.runStep(true, () => identity.signIn(...of)),
      auditLog: this.wrapWrites(auditLog, COMMAND_METHODS.auditLog),
    };
    return {
      shipments: this.wrapWrites(shipments, COMMAND_METHODS.shipments),
      objects: this.wrapWrites(objects, COMMAND_METHODS.objects),
      webhooks: {
        endpoints: this.wrapWrites(webhooks.endpoints, COMMAND_METHODS.endpoints),
        deliveries: this.wrapWrites(webhooks.deliveries, COMMAND_METHODS.deliveries),
        replays: this.wrapWrites(webhooks.replays, COMMAND_METHODS.replays),
        stats: webhooks.stats,
        deadLetters: this.wrapWrites(webhooks.deadLetters, COMMAND_METHODS.deadLetters),
      },
      identity: new Proxy(identity, {
        get: (of, name) => {
          const found: unknown = Reflect.get(mortal, name) ?? Reflect.get(of, name);
          return typeof found === 'function' ? (found.bind(of) as unknown) : found;
        },
      }),
    };
  }

  private wrapWrites<T extends object>(target: T, writes: readonly (string & keyof T)[]): T {
    return new Proxy(target, {
      get: (of, name: string & keyof T) => {
        const method = of[name];
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) =>
          this.runStep(writes.includes(name), () =>
            (method as (...all: unknown[]) => Promise<unknown>).apply(of, args),
          );
      },
    });
  }

  private async runStep<R>(isStep: boolean, action: () => Promise<R>): Promise<R> {
    if (isStep) this.steps += 1;
    const isLast = isStep && this.steps === this.dieAt;
    if (isLast && this.before) this.isDead = true;
    if (this.isDead) throw new Unavailable('gateway', 'killed');
    const answer = await action();
    if (isLast) this.isDead = true;
    if (this.isDead) throw new Unavailable('gateway', 'killed');
    return answer;
  }
}
