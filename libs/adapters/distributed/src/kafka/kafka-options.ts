interface SaslCredentials<Mechanism> {
  readonly mechanism: Mechanism;
  readonly username: string;
  readonly password: string;
}
export type KafkaSasl = SaslCredentials<'plain'> | SaslCredentials<'scram-sha-256'> | SaslCredentials<'scram-sha-512'>;

/** Where the brokers are, how to be let in, and how long to wait for them. */
export interface KafkaOptions {
  /** `host:port` of one or more brokers, the first ones to ask. */
  readonly brokers: readonly string[];
  /** Name of this process in the brokers' logs and quotas. */
  readonly clientId?: string;
  /** Stands before every topic and group: for a cluster that others use too. */
  readonly topicPrefix?: string;
  /** `true` trusts the system's authorities; texts are PEM. */
  readonly tls?: boolean | { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly sasl?: KafkaSasl;
  /** Replicas of topics made here; the cluster's default where absent. One fewer must have a message to acknowledge it. */
  readonly replicationFactor?: number;
  readonly limits?: Partial<KafkaLimits>;
}

export interface KafkaLimits {
  /** From the call of `publish` to `Unavailable`. */
  readonly publishTimeoutMs: number;
  /** Most messages of a topic that wait for an acknowledgement; beyond, `Busy`. */
  readonly maxWaiting: number;
  /** One request to one broker. */
  readonly requestTimeoutMs: number;
  /** A member not heard of for so long loses its partitions. The cluster allows 6 s and more unless told otherwise. */
  readonly sessionTimeoutMs: number;
  /** After so long in a handler its partition is paused, and the other partitions are served meanwhile. */
  readonly pausePartitionAfterMs: number;
  /** Making topics, asking for the lag. */
  readonly adminTimeoutMs: number;
  /** From `close` until what is still under way is left behind. */
  readonly closeTimeoutMs: number;
}

export const DEFAULT_LIMITS: KafkaLimits = {
  publishTimeoutMs: 30_000,
  maxWaiting: 10_000,
  requestTimeoutMs: 10_000,
  sessionTimeoutMs: 7_000,
  pausePartitionAfterMs: 500,
  adminTimeoutMs: 15_000,
  closeTimeoutMs: 15_000,
};
