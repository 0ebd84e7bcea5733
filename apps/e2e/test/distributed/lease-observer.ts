import type { ServiceReplica } from '@tracking/system';
import { waitForSimulatedDelay } from '@tracking/testing';
import axios from 'axios';
import { MongoClient } from 'mongodb';

const LEASE_OBSERVATION_INTERVAL_MS = 800;
const ENDPOINT_SHARD_COUNT = 64;

/** Leases that a process holds, and members that share them, by group, as `/health/ready` reports them. */
export type LeaseReport = Readonly<Record<string, { readonly held: number; readonly members: number }>>;

interface LeaseDocument {
  /** Name of the lease. */
  readonly _id: string;
  readonly epoch: number;
  /** Token of the holder; null if the lease is released. */
  readonly holder: string | null;
  /** Id of the member that holds the lease. */
  readonly member?: string;
}

interface MemberDocument {
  readonly _id: string;
  /** Name of the process, such as `webhooks@host:4711`. */
  readonly name: string;
  readonly wanted: Readonly<Record<string, readonly string[]>>;
}

/** A document that the owner of a lease writes: its epoch, and the position of a checkpoint. */
interface DocumentWithLeaseEpoch {
  readonly _id: string;
  readonly epoch: number;
  readonly position?: string | null;
}

/** Epoch of a lease in one read of its record. Times are epoch milliseconds before and after the read. */
interface ObservedLeaseEpoch {
  readonly epoch: number;
  readonly from: number;
  readonly to: number;
}

/** Reads who holds which lease, again and again, and compares it with what the processes report. */
export class LeaseObserver {
  /** Contradictions: two owners of a lease, or a write of an earlier owner after one of a later owner. */
  readonly violations: string[] = [];
  /** Number of reports of processes that were compared with the stored leases. */
  comparisons = 0;
  /** Highest epoch of all leases. */
  maxEpoch = 0;
  private readonly epochs = new Map<string, ObservedLeaseEpoch[]>();
  /** Holder of each lease by name and epoch. */
  private readonly holders = new Map<string, string>();
  private readonly owned = new Map<string, DocumentWithLeaseEpoch>();
  /** Reports of more leases than stored, by process and group, in the previous observation. */
  private excesses = new Set<string>();
  private readonly stopping = new AbortController();
  private readonly observing: Promise<void>;

  /** @param running returns the replicas that run at the moment */
  private constructor(
    private readonly mongo: MongoClient,
    private readonly running: () => Iterable<ServiceReplica>,
  ) {
    this.observing = this.observeLeasesRepeatedly();
    // Only `stop` reports a failed observation.
    this.observing.catch(() => undefined);
  }

  static async startObservingLeases(mongoUrl: string, running: () => Iterable<ServiceReplica>): Promise<LeaseObserver> {
    return new LeaseObserver(await MongoClient.connect(mongoUrl), running);
  }

  /** @throws Error if the leases could not be read */
  async stopObservingLeases(): Promise<void> {
    this.stopping.abort();
    await this.observing.finally(() => this.mongo.close());
  }

  /** Returns the process id of the holder of the only lease whose name matches. @throws Error if no process holds it */
  async findLeaseHolderProcess(name: RegExp): Promise<number> {
    const [lease, ...others] = (await this.readLeases()).filter(({ _id, holder }) => name.test(_id) && holder !== null);
    const member = (await this.readLeaseMembers()).find(({ _id }) => _id === lease?.member);
    if (member === undefined || others.length > 0) throw new Error(`${others.length + 1} leases match ${name}`);
    return getProcessIdOfMember(member);
  }

  /** Returns true if the lease had another owner between the two times, in epoch milliseconds, as far as observed. */
  mayLeaseHaveMoved(lease: string, from: number, to: number): boolean {
    const observed = this.epochs.get(lease) ?? [];
    const before = observed.findLast((one) => one.to <= from)?.epoch ?? 0;
    const after = observed.find((one) => one.from >= to)?.epoch ?? Infinity;
    return before < after;
  }

  /** Returns the endpoint's stored pause in epoch milliseconds; undefined if no pause is stored. */
  async findStoredEndpointPause(endpointId: string): Promise<number | undefined> {
    const conditions = this.mongo
      .db()
      .collection<DocumentWithLeaseEpoch & { readonly held_until: string | null }>(ENDPOINT_CONDITIONS_COLLECTION);
    const { held_until = null } = (await conditions.findOne({ _id: endpointId })) ?? {};
    return held_until === null ? undefined : Date.parse(held_until);
  }

  private async observeLeasesRepeatedly(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      await this.observeLeases();
      await waitForSimulatedDelay(LEASE_OBSERVATION_INTERVAL_MS);
    }
  }

  private async observeLeases(): Promise<void> {
    for (const collection of ['subscription_checkpoints', ENDPOINT_CONDITIONS_COLLECTION])
      await this.recordOwnershipViolations(collection);
    const [before, members] = [await this.readLeases(), await this.readLeaseMembers()];
    const reports = await Promise.all([...this.running()].map(async (replica) => readLeaseReport(replica)));
    const after = await this.readLeases();
    const excesses = new Set<string>();
    for (const { pid, leases } of reports.flatMap((report) => report ?? [])) {
      const member = members.find((one) => getProcessIdOfMember(one) === pid);
      for (const [group, { held }] of Object.entries(leases)) {
        const names = new Set(members.flatMap(({ wanted }) => wanted[group] ?? []));
        const ofGroup = (all: readonly LeaseDocument[]) => all.filter(({ _id }) => names.has(_id));
        // Nothing is known about a group in which a lease moved meanwhile.
        if (describeLeaseHolders(ofGroup(before)) !== describeLeaseHolders(ofGroup(after))) continue;
        const stored = ofGroup(after).filter((lease) => lease.member === member?._id && lease.holder !== null);
        this.comparisons += 1;
        if (held > stored.length) excesses.add(`process ${pid} holds more leases of ${group} than it may`);
      }
    }
    // A process that got no CPU time for long can respond once before it notices that it lost its leases.
    this.violations.push(...[...excesses].filter((excess) => this.excesses.has(excess)));
    this.excesses = excesses;
  }

  private async readLeases(): Promise<readonly LeaseDocument[]> {
    const from = Date.now();
    const found = await this.mongo.db().collection<LeaseDocument>('leases').find().toArray();
    const to = Date.now();
    for (const { _id, epoch, holder } of found) {
      const known = this.epochs.get(_id) ?? [];
      if (epoch < (known.at(-1)?.epoch ?? 0)) this.violations.push(`the epoch of ${_id} decreased`);
      known.push({ epoch, from, to });
      this.epochs.set(_id, known);
      this.maxEpoch = Math.max(this.maxEpoch, epoch);
      if (holder === null) continue;
      const owner = this.holders.get(`${_id} ${epoch}`) ?? holder;
      this.holders.set(`${_id} ${epoch}`, owner);
      if (owner !== holder) this.violations.push(`${_id} had two holders in epoch ${epoch}`);
    }
    return found.toSorted((one, other) => (one._id < other._id ? -1 : 1));
  }

  private readLeaseMembers(): Promise<readonly MemberDocument[]> {
    return this.mongo.db().collection<MemberDocument>('lease_members').find().toArray();
  }

  private async recordOwnershipViolations(name: string): Promise<void> {
    for (const now of await this.mongo.db().collection<DocumentWithLeaseEpoch>(name).find().toArray()) {
      const known = this.owned.get(now._id);
      this.owned.set(now._id, now);
      if (known === undefined) continue;
      if (now.epoch < known.epoch) this.violations.push(`${now._id}: an earlier owner has written`);
      if ((now.position ?? '') < (known.position ?? '')) this.violations.push(`${now._id}: the position decreased`);
    }
  }
}

const ENDPOINT_CONDITIONS_COLLECTION = 'webhook_endpoint_conditions';

/** Returns the name of the lease under which deliveries to the endpoint are attempted. */
export function computeShardLeaseName(endpointId: string): string {
  let hash = 0x811c9dc5;
  for (const character of endpointId) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  return `webhooks-shard-${String((hash >>> 0) % ENDPOINT_SHARD_COUNT).padStart(2, '0')}`;
}

/** Returns the leases that a replica reports, with its process id; undefined if it does not respond or is ending. */
export async function readLeaseReport({ process, managementUrl }: ServiceReplica) {
  const { pid } = process;
  const health = await axios
    .get<{ leases?: LeaseReport }>(`${managementUrl}/health/ready`, { proxy: false, validateStatus: () => true })
    .catch(() => undefined);
  const isSameProcess = pid !== undefined && pid === process.pid;
  return health !== undefined && isSameProcess ? { pid, leases: health.data.leases ?? {} } : undefined;
}

const getProcessIdOfMember = ({ name }: MemberDocument) => Number(name.slice(name.lastIndexOf(':') + 1));

const describeLeaseHolders = (leases: readonly LeaseDocument[]) =>
  leases.map(({ _id, epoch, holder }) => `${_id} ${epoch} ${holder ?? ''}`).join();
