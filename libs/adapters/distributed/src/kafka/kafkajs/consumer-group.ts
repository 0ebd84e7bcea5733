import { createRequire } from 'node:module';
import { retry } from '@tracking/resilience';

const ATTEMPTS = 5;
const PAUSES = { firstPauseMs: 200, longestPauseMs: 1_600 };

/** Of kafkajs 2.2.4: the membership of one consumer. */
interface KafkaJsConsumerGroup {
  readonly cluster: object;
  memberId: string | null;
  joinAndSync(): Promise<void>;
  leave(): Promise<void>;
}

/** The place in a group that one consumer after another takes. */
export interface MemberIdentity {
  /** The member id that the group gave it; empty until then. */
  id: string;
  /** Whether a consumer that ends leaves the group; where it does not, the next one takes its place. */
  leaves: boolean;
}

interface Joining {
  readonly identity: MemberIdentity;
  /** Aborts when nobody wants it to join any more. */
  readonly ended: AbortSignal;
}

/** By the kafkajs cluster object of the consumer. */
const joinings = new WeakMap<object, Joining>();

/**
 * Has a consumer join its group under the member id of the one it replaces, which the group has not missed yet. With an id
 * of its own it would wait until the session of the old one has lapsed, and the whole group with it.
 * @param identity kept up to date from here on
 * @param cluster of the consumer
 * @param ended ends joining, whose pauses would go on for seconds after its client was destroyed
 */
export function joinAs(identity: MemberIdentity, cluster: object, ended: AbortSignal): void {
  joinings.set(cluster, { identity, ended });
}

/**
 * kafkajs has no setting for the member id, and leaves the group when it crashes. And where it has joined but did not get
 * its partitions, as when the response to SyncGroup is lost, it goes on: it fetches the partitions it had before, which may
 * be another's, and its commits are refused for ever while its heartbeats are taken. So joining is tried again at once, on
 * the connections there are; after the last attempt the consumer crashes, and another one takes its place.
 */
export function patchConsumerGroups(): void {
  const require = createRequire(import.meta.url);
  const { prototype } = require('kafkajs/src/consumer/consumerGroup.js') as {
    readonly prototype: KafkaJsConsumerGroup;
  };
  const { joinAndSync, leave } = prototype;
  prototype.joinAndSync = async function () {
    const { identity, ended } = joinings.get(this.cluster) ?? {};
    // Where the group does not know the id any more, kafkajs asks for another.
    this.memberId ??= identity?.id ?? null;
    let attempts = 0;
    const join = async () => {
      attempts += 1;
      try {
        await joinAndSync.call(this);
      } finally {
        if (identity !== undefined) identity.id = this.memberId ?? '';
      }
    };
    const until = { ...PAUSES, ...(ended && { signal: ended }), isTransient: () => attempts < ATTEMPTS };
    await retry(join, until).catch((error: unknown) => {
      throw error instanceof Error ? Object.assign(error, { retriable: false }) : error;
    });
  };
  prototype.leave = async function () {
    if (joinings.get(this.cluster)?.identity.leaves !== false) await leave.call(this);
  };
}
