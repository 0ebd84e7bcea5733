import { UnavailableError } from '@tracking/ports';
import type { CollectionSpec, DocumentStore } from '@tracking/ports';
import type { ApiDependencies } from './features.ts';

/** The methods that change stored data. */
const STORE_WRITE_METHODS = ['insert', 'replace', 'replaceMany', 'delete', 'upsert', 'writeMany', 'claim'] as const;
const COMMAND_METHOD_NAMES = {
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
  serviceAccounts: ['createServiceAccount', 'deactivateServiceAccount', 'reactivateServiceAccount'],
  keys: ['createKey', 'rotateKey', 'revokeKey'],
  users: ['inviteUser', 'deactivateUser', 'reactivateUser', 'resetPassword'],
  links: ['redeemOneTimeLink'],
  userPasswords: ['changePassword'],
  sessions: ['replaceSessionTokenForNewEpoch'],
  auditLog: ['beginAuditEntry', 'completeAuditEntry', 'withdrawAuditEntry'],
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
  restartGatewayWithPlannedCrash(dieAt: number, before: boolean): void {
    Object.assign(this, { isDead: false, steps: 0, dieAt, before });
  }

  /** Returns a document store for claims. Its calls fail after the crash. */
  makeStoreFailAfterCrash(store: DocumentStore): DocumentStore {
    const collection = async (spec: CollectionSpec) =>
      this.wrapWritesWithCrashes(await store.collection(spec), STORE_WRITE_METHODS);
    return new Proxy(store, {
      get: (of, name: keyof DocumentStore) => (name === 'collection' ? collection : of[name].bind(of)),
    });
  }

  /** Returns the features of the gateway. Their calls fail after the crash. */
  wrapFeaturesToFailAfterCrash({ shipments, objects, webhooks, identity }: ApiDependencies): Partial<ApiDependencies> {
    const { serviceAccounts, keys, users, links, userPasswords, sessions, auditLog } = identity;
    const mortal = {
      serviceAccounts: this.wrapWritesWithCrashes(serviceAccounts, COMMAND_METHOD_NAMES.serviceAccounts),
      keys: this.wrapWritesWithCrashes(keys, COMMAND_METHOD_NAMES.keys),
      users: this.wrapWritesWithCrashes(users, COMMAND_METHOD_NAMES.users),
      links: this.wrapWritesWithCrashes(links, COMMAND_METHOD_NAMES.links),
      userPasswords: this.wrapWritesWithCrashes(userPasswords, COMMAND_METHOD_NAMES.userPasswords),
      sessions: this.wrapWritesWithCrashes(sessions, COMMAND_METHOD_NAMES.sessions),
      signIn: (...of: Parameters<typeof identity.signIn>) =>
        this.runStepUnlessKilled(true, () => identity.signIn(...of)),
      auditLog: this.wrapWritesWithCrashes(auditLog, COMMAND_METHOD_NAMES.auditLog),
    };
    return {
      shipments: this.wrapWritesWithCrashes(shipments, COMMAND_METHOD_NAMES.shipments),
      objects: this.wrapWritesWithCrashes(objects, COMMAND_METHOD_NAMES.objects),
      webhooks: {
        endpoints: this.wrapWritesWithCrashes(webhooks.endpoints, COMMAND_METHOD_NAMES.endpoints),
        deliveries: this.wrapWritesWithCrashes(webhooks.deliveries, COMMAND_METHOD_NAMES.deliveries),
        replays: this.wrapWritesWithCrashes(webhooks.replays, COMMAND_METHOD_NAMES.replays),
        stats: webhooks.stats,
        deadLetters: this.wrapWritesWithCrashes(webhooks.deadLetters, COMMAND_METHOD_NAMES.deadLetters),
      },
      identity: new Proxy(identity, {
        get: (of, name) => {
          const found: unknown = Reflect.get(mortal, name) ?? Reflect.get(of, name);
          return typeof found === 'function' ? (found.bind(of) as unknown) : found;
        },
      }),
    };
  }

  private wrapWritesWithCrashes<T extends object>(target: T, writes: readonly (string & keyof T)[]): T {
    return new Proxy(target, {
      get: (of, name: string & keyof T) => {
        const method = of[name];
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) =>
          this.runStepUnlessKilled(writes.includes(name), () =>
            (method as (...all: unknown[]) => Promise<unknown>).apply(of, args),
          );
      },
    });
  }

  private async runStepUnlessKilled<R>(isStep: boolean, action: () => Promise<R>): Promise<R> {
    if (isStep) this.steps += 1;
    const isLast = isStep && this.steps === this.dieAt;
    if (isLast && this.before) this.isDead = true;
    if (this.isDead) throw new UnavailableError('gateway', 'killed');
    const answer = await action();
    if (isLast) this.isDead = true;
    if (this.isDead) throw new UnavailableError('gateway', 'killed');
    return answer;
  }
}
