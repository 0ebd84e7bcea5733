import { Unavailable } from '@tracking/ports';
import type { CollectionSpec, DocumentStore } from '@tracking/ports';
import type { ApiDependencies } from './features.ts';

/** The methods that change stored data. */
const STORE_WRITE_METHODS = ['insert', 'replace', 'delete', 'upsert', 'writeMany', 'claim'];
const COMMAND_METHODS = {
  shipments: [
    ...(['upsertShipment', 'recordMilestone', 'cancelShipment', 'reopenShipment'] as const),
    ...(['openException', 'acknowledgeException', 'resolveException'] as const),
    ...(['addDocument', 'requestUpload', 'completeUpload', 'approveDocument', 'rejectDocument'] as const),
  ],
  objects: ['put'],
  endpoints: ['create', 'verify', 'enable', 'disable', 'test', 'rotateSecret', 'revealSecret'],
  deliveries: ['retry', 'discard'],
  replays: ['create', 'cancel', 'resume'],
  deadLetters: ['replay', 'discard'],
  serviceAccounts: ['create', 'deactivate', 'reactivate'],
  keys: ['create', 'rotate', 'revoke'],
  users: ['invite', 'deactivate', 'reactivate', 'resetPassword'],
  links: ['use'],
  userPasswords: ['change'],
  sessions: ['renew'],
  auditLog: ['begin', 'complete', 'withdraw'],
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
  restart(dieAt: number, before: boolean): void {
    Object.assign(this, { isDead: false, steps: 0, dieAt, before });
  }

  /** Returns a document store for claims. Its calls fail after the crash. */
  wrapStore(store: DocumentStore): DocumentStore {
    const collection = async (spec: CollectionSpec) =>
      this.crashAtWrites(await store.collection(spec), STORE_WRITE_METHODS);
    return new Proxy(store, {
      get: (of, name: keyof DocumentStore) => (name === 'collection' ? collection : of[name].bind(of)),
    });
  }

  /** Returns the features of the gateway. Their calls fail after the crash. */
  wrapFeatures({ shipments, objects, webhooks, identity }: ApiDependencies): Partial<ApiDependencies> {
    const { serviceAccounts, keys, users, links, userPasswords, sessions, auditLog } = identity;
    const mortal = {
      serviceAccounts: this.crashAtWrites(serviceAccounts, COMMAND_METHODS.serviceAccounts),
      keys: this.crashAtWrites(keys, COMMAND_METHODS.keys),
      users: this.crashAtWrites(users, COMMAND_METHODS.users),
      links: this.crashAtWrites(links, COMMAND_METHODS.links),
      userPasswords: this.crashAtWrites(userPasswords, COMMAND_METHODS.userPasswords),
      sessions: this.crashAtWrites(sessions, COMMAND_METHODS.sessions),
      signIn: (...of: Parameters<typeof identity.signIn>) => this.call(true, () => identity.signIn(...of)),
      auditLog: this.crashAtWrites(auditLog, COMMAND_METHODS.auditLog),
    };
    return {
      shipments: this.crashAtWrites(shipments, COMMAND_METHODS.shipments),
      objects: this.crashAtWrites(objects, COMMAND_METHODS.objects),
      webhooks: {
        endpoints: this.crashAtWrites(webhooks.endpoints, COMMAND_METHODS.endpoints),
        deliveries: this.crashAtWrites(webhooks.deliveries, COMMAND_METHODS.deliveries),
        replays: this.crashAtWrites(webhooks.replays, COMMAND_METHODS.replays),
        stats: webhooks.stats,
        deadLetters: this.crashAtWrites(webhooks.deadLetters, COMMAND_METHODS.deadLetters),
      },
      identity: new Proxy(identity, {
        get: (of, name) => {
          const found: unknown = Reflect.get(mortal, name) ?? Reflect.get(of, name);
          return typeof found === 'function' ? (found.bind(of) as unknown) : found;
        },
      }),
    };
  }

  private crashAtWrites<T extends object>(target: T, writes: readonly string[]): T {
    return new Proxy(target, {
      get: (of, name: string & keyof T) => {
        const method = of[name];
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) =>
          this.call(writes.includes(name), () => (method as (...all: unknown[]) => Promise<unknown>).apply(of, args));
      },
    });
  }

  private async call<R>(isStep: boolean, action: () => Promise<R>): Promise<R> {
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
