/** Where the nodes are, how to be let in, and how long to wait for them. */
export interface EventStoreDbOptions {
  /**
   * As operators write it: `esdb://user:password@host:2113?tls=true&tlsCAFile=…`, several hosts or `esdb+discover://` for
   * a cluster. TLS and its certificates are options of it.
   */
  readonly url: string;
  /** In the place of those in the URL. A node without TLS is told none. */
  readonly credentials?: EventStoreDbCredentials;
  readonly limits?: Partial<EventStoreDbLimits>;
}

export interface EventStoreDbCredentials {
  readonly username: string;
  readonly password: string;
}

export interface EventStoreDbLimits {
  /**
   * From the call of an operation to `Unavailable`; until then it is repeated. A read may take longer, as long as the node
   * is never silent for this time.
   */
  readonly operationTimeoutMs: number;
  /** Most appends that the node has not answered; beyond, `Busy`. */
  readonly maxAppends: number;
  /** Newest events kept in memory for live readers, at least, up to twice as many; fewer if they exceed 32 MiB. */
  readonly liveEvents: number;
}

export const DEFAULT_LIMITS: EventStoreDbLimits = {
  operationTimeoutMs: 5_000,
  maxAppends: 10_000,
  liveEvents: 2_000,
};
