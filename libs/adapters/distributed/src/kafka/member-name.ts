import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';

const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 100;

/** Of kafkajs 2.2.4: the membership of one consumer. */
interface ConsumerGroup {
  readonly cluster: object;
  memberId: string | null;
  joinAndSync(): Promise<void>;
  leave(): Promise<void>;
}

/** Whom one consumer after another stands for in a group. */
export interface MemberName {
  /** As the group calls it; empty until it has told. */
  id: string;
  /** Whether a consumer that ends gives the place up; where it does not, the next one takes it. */
  leaves: boolean;
}

/** By what the consumer reaches its brokers with. */
const names = new WeakMap<object, MemberName>();

/**
 * Has a consumer join its group under the name of the one whose place it takes, which the group has not missed yet. Under a
 * name of its own it would wait until the session of the old one has lapsed, and everybody else with it.
 * @param name kept up to date from here on
 * @param cluster of the consumer
 */
export function joinAs(name: MemberName, cluster: object): void {
  names.set(cluster, name);
}

/**
 * kafkajs has no setting for the name, and leaves the group when it crashes. And it goes on where it has joined but was not
 * told its partitions, as when that answer is lost: it fetches those of before, which may be another's, and commits what is
 * refused, for ever, while its heartbeats are taken. So it tries again at once, on the connections it has; who does not come
 * in then crashes, and another consumer comes in its place.
 */
export function letConsumersKeepNames(): void {
  const require = createRequire(import.meta.url);
  const { prototype } = require('kafkajs/src/consumer/consumerGroup.js') as { readonly prototype: ConsumerGroup };
  const { joinAndSync, leave } = prototype;
  prototype.joinAndSync = async function () {
    const name = names.get(this.cluster);
    // Where the group knows it no more, kafkajs asks for another.
    this.memberId ??= name?.id ?? null;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await joinAndSync.call(this);
      } catch (error) {
        if (attempt === ATTEMPTS) throw error instanceof Error ? Object.assign(error, { retriable: false }) : error;
      } finally {
        if (name !== undefined) name.id = this.memberId ?? '';
      }
      await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1));
    }
  };
  prototype.leave = async function () {
    if (names.get(this.cluster)?.leaves !== false) await leave.call(this);
  };
}
