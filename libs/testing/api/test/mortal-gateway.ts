import { Unavailable } from '@tracking/ports';
import type { CollectionSpec, DocumentStore } from '@tracking/ports';
import type { ApiDependencies } from './features.ts';

/** What changes something outside of it. */
const WRITES = ['insert', 'replace', 'delete', 'upsert', 'writeMany', 'claim'];
const COMMANDS = {
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
  sessions: ['keep'],
  auditLog: ['begin', 'complete', 'withdraw'],
} as const;

/**
 * A gateway that can die, as by kill -9: from one instant on no call that it makes has an effect or an answer, so that
 * whatever it tells its clients from then on counts as never told.
 */
export class MortalGateway {
  dead = false;
  private steps = 0;
  private dieAt = Infinity;
  private before = true;

  /**
   * It lives, until it is to die again.
   * @param dieAt the number of the call from now on, from 1, at which it dies
   * @param before whether it dies before that call has its effect, or after it but before its answer
   */
  revive(dieAt: number, before: boolean): void {
    Object.assign(this, { dead: false, steps: 0, dieAt, before });
  }

  /** Where its claims are. */
  store(store: DocumentStore): DocumentStore {
    const collection = async (spec: CollectionSpec) => this.wrap(await store.collection(spec), WRITES);
    return new Proxy(store, {
      get: (of, name: keyof DocumentStore) => (name === 'collection' ? collection : of[name].bind(of)),
    });
  }

  /** The features behind it. */
  features({ shipments, objects, webhooks, identity }: ApiDependencies): Partial<ApiDependencies> {
    const { serviceAccounts, keys, users, links, userPasswords, sessions, auditLog } = identity;
    const mortal = {
      serviceAccounts: this.wrap(serviceAccounts, COMMANDS.serviceAccounts),
      keys: this.wrap(keys, COMMANDS.keys),
      users: this.wrap(users, COMMANDS.users),
      links: this.wrap(links, COMMANDS.links),
      userPasswords: this.wrap(userPasswords, COMMANDS.userPasswords),
      sessions: this.wrap(sessions, COMMANDS.sessions),
      signIn: (...of: Parameters<typeof identity.signIn>) => this.call(true, () => identity.signIn(...of)),
      auditLog: this.wrap(auditLog, COMMANDS.auditLog),
    };
    return {
      shipments: this.wrap(shipments, COMMANDS.shipments),
      objects: this.wrap(objects, COMMANDS.objects),
      webhooks: {
        endpoints: this.wrap(webhooks.endpoints, COMMANDS.endpoints),
        deliveries: this.wrap(webhooks.deliveries, COMMANDS.deliveries),
        replays: this.wrap(webhooks.replays, COMMANDS.replays),
        stats: webhooks.stats,
        deadLetters: this.wrap(webhooks.deadLetters, COMMANDS.deadLetters),
      },
      identity: new Proxy(identity, {
        get: (of, name) => {
          const found: unknown = Reflect.get(mortal, name) ?? Reflect.get(of, name);
          return typeof found === 'function' ? (found.bind(of) as unknown) : found;
        },
      }),
    };
  }

  private wrap<T extends object>(target: T, writes: readonly string[]): T {
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
    if (isLast && this.before) this.dead = true;
    if (this.dead) throw new Unavailable('gateway', 'killed');
    const answer = await action();
    if (isLast) this.dead = true;
    if (this.dead) throw new Unavailable('gateway', 'killed');
    return answer;
  }
}
