/**
 * Exclusive right of this process until the lease is lost. The `epoch` is greater than that of every earlier holder of
 * the same name. Writes that a former holder must not make contain the epoch, and are refused if a newer epoch was
 * seen.
 */
export interface Lease {
  readonly name: string;
  readonly epoch: number;
  /** Signal that aborts when the lease is lost or released. Stop immediately when it aborts. */
  readonly lost: AbortSignal;
  /**
   * Signal that aborts when another process should hold the lease. Complete the work in progress, then release the
   * lease. The lease stays valid until then.
   */
  readonly handOverRequested: AbortSignal;
  /**
   * True if the lease is valid right now; if false, `lost` has aborted. Check it before work that must never run beside
   * the next holder, because after a pause of the process such work may run before the timer that reports the loss.
   */
  isLeaseHeld(): boolean;
  /** Releases the lease without waiting for the end of its time to live. Idempotent. */
  releaseLease(): Promise<void>;
}

/** Source of the leases under which work runs. */
export interface LeaseSource {
  /**
   * Waits until this process holds the named lease. The lease renews itself until it is released or lost. At most one
   * process holds a lease without having been notified of its loss. Clocks of different machines are never compared.
   * @throws the signal's reason if it aborts first
   */
  acquireLease(name: string, signal: AbortSignal): Promise<Lease>;
}

/** Names of the leases that a process is ready to hold, by group. */
export type WantedLeases = Readonly<Record<string, readonly string[]>>;

/** A process that shares leases with other processes. */
export interface LeaseMember {
  /** Id of the process. It changes with every start. */
  readonly id: string;
  /** Name of the process for operators, such as `webhooks@host-1:4711`. */
  readonly name: string;
  /** Address `host:port` at which other processes reach this one; absent if it has none. */
  readonly address?: string;
  /** Host name in the TLS certificate of this process; absent without TLS. */
  readonly tlsName?: string;
  /** Id of the release that the process runs; absent if it has none. */
  readonly release?: string;
  /** True if this process understands read models in several partitions; absent for processes of earlier releases. */
  readonly followsPartitions?: true;
  readonly wanted: WantedLeases;
}

/** Data about a process that it announces when it becomes a member. */
export type MemberDescription = Pick<LeaseMember, 'name' | 'address' | 'tlsName' | 'release' | 'followsPartitions'>;

/** A live member's view of all members. */
export interface LeaseGroupMembership {
  /** Id of this process. */
  readonly id: string;
  /**
   * All live members, including this process; undefined until they were read once. A member that ends without
   * {@link removeOwnMember} is listed until its leases can be taken over.
   */
  readonly members: readonly LeaseMember[] | undefined;
  /** Announces the leases that this process is ready to hold. Other members read them within about a second. */
  announceMember(wanted: WantedLeases): void;
  /** Calls the listener after every change of `members`. */
  addMemberChangeListener(listener: () => void): void;
  /** Removes this process from the members. Idempotent. */
  removeOwnMember(): Promise<void>;
}

/** A lease that a process holds, for operators. */
export interface HeldLeaseState {
  readonly name: string;
  readonly epoch: number;
  /** Member that holds the lease; null if the holder shares no leases or has ended. */
  readonly holder: Pick<LeaseMember, 'id' | 'name' | 'address'> | null;
}

/** Leases of this process, and its view of the other processes. */
export interface Leases extends LeaseSource {
  /** Makes this process a member of the processes that share leases. @param about data about it */
  joinLeaseGroup(about: MemberDescription): LeaseGroupMembership;
  /** Lists the held leases of all processes, by name. @throws UnavailableError */
  listHeldLeases(): Promise<readonly HeldLeaseState[]>;
  /** Releases all leases of this process. */
  close(): Promise<void>;
}

export interface QuotaDecision {
  readonly admitted: boolean;
  readonly limit: number;
  /** Number of further requests that the quota would admit now. */
  readonly remaining: number;
  /** Epoch seconds at which the full limit is available again if no further request is admitted. */
  readonly resetAt: number;
  /** Whole seconds until the quota would admit the next request; 0 if this request was admitted. */
  readonly retryAfter: number;
}

/**
 * Request quotas per sliding minute, counted in 60 buckets of one second over all processes that share the store. Never
 * admits more than the limit, and at most 1 % less per process. If the store is unreachable or slow, each process counts
 * alone, so that no request waits long.
 */
export interface RequestQuota {
  /** Requests one of `limit` requests per minute under `key`. A refused request does not count. */
  takeQuotaForRequest(key: string, limit: number): Promise<QuotaDecision>;
  /**
   * Announces that `takeQuotaForRequest` will probably follow, so that it need not wait for the store. Counts no request.
   * Absent if `takeQuotaForRequest` never waits.
   */
  reserveExpectedRequests?(key: string, limit: number): void;
  close(): Promise<void>;
}
