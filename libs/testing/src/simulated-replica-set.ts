import { type Document, Long, ObjectId } from 'bson';
import { waitForSimulatedDelay } from './eventually.ts';
import { readMongoCommandName } from './mongo-wire.ts';

const NOT_WRITABLE_PRIMARY_CODE = { code: 10_107, codeName: 'NotWritablePrimary' };
const NOT_PRIMARY_NO_SECONDARY_OK_CODE = { code: 13_435, codeName: 'NotPrimaryNoSecondaryOk' };
const INTERRUPTED_BY_ELECTION_ERROR = { code: 11_602, codeName: 'InterruptedDueToReplStateChange' };
/** Commands that only the primary performs. */
const MONGO_PRIMARY_ONLY_COMMANDS: ReadonlySet<string> = new Set([
  ...['insert', 'update', 'delete', 'findAndModify', 'create', 'createIndexes'],
  ...['drop', 'dropIndexes', 'dropDatabase', 'collMod'],
]);
/** Commands that a secondary performs only if the client allows it. */
const MONGO_READ_COMMANDS: ReadonlySet<string> = new Set(['find', 'aggregate', 'count', 'distinct', 'listCollections']);

export const isMongoWrite = (command: Document): boolean =>
  MONGO_PRIMARY_ONLY_COMMANDS.has(readMongoCommandName(command));
export const isMongoRead = (command: Document): boolean => MONGO_READ_COMMANDS.has(readMongoCommandName(command));

/** Roles of the members of a replica set, as their replies show them to a driver. All members have the same data. */
export class SimulatedReplicaSet {
  /** Index of the primary; undefined during an election. */
  primary: number | undefined = 0;
  private term = 1;
  private version = 1;
  private readonly processId = new ObjectId();
  private readonly waiting = new Set<() => void>();

  /** @param addresses `host:port` of each member */
  constructor(readonly addresses: readonly string[]) {}

  /** Makes a member the primary, or none. */
  changePrimary(member: number | undefined): void {
    if (member !== undefined) this.term += 1;
    this.primary = member;
    this.version += 1;
    for (const wake of this.waiting) wake();
  }

  /** Returns the reply of a member to `hello`. @param template the reply of the engine */
  createHelloReplyOfMember(member: number, template: Document): Document {
    const isPrimary = member === this.primary;
    const { compression, saslSupportedMechs, electionId, primary, operationTime, $clusterTime, ...rest } = template;
    return {
      ...rest,
      setName: 'rs0',
      setVersion: 1,
      hosts: this.addresses,
      me: this.addresses[member],
      ...(this.primary !== undefined && { primary: this.addresses[this.primary] }),
      ...(isPrimary && { electionId: new ObjectId(`7fffffff${this.term.toString(16).padStart(16, '0')}`) }),
      isWritablePrimary: isPrimary,
      ismaster: isPrimary,
      secondary: !isPrimary,
      topologyVersion: this.createTopologyVersion(),
    };
  }

  /** Resolves when the roles are no longer those of the version, after the time, or when the signal aborts. */
  async waitForRoleChange(known: Document, maxMs: number, signal: AbortSignal): Promise<void> {
    if (!this.processId.equals(known['processId']) || Number(known['counter']) < this.version) return;
    const change = new AbortController();
    const wake = () => change.abort();
    this.waiting.add(wake);
    await waitForSimulatedDelay(maxMs, AbortSignal.any([change.signal, signal])).catch(() => undefined);
    this.waiting.delete(wake);
  }

  /** Returns the error of a member that is not the primary; undefined if it performs the command. */
  findNotPrimaryErrorOfMember(member: number, command: Document): Document | undefined {
    if (member === this.primary) return undefined;
    if (isMongoWrite(command)) return this.createNotPrimaryReply(command, NOT_WRITABLE_PRIMARY_CODE);
    const { $readPreference: preference } = command as { readonly $readPreference?: { readonly mode?: string } };
    const mayReadHere = preference?.mode !== undefined && preference.mode !== 'primary';
    return isMongoRead(command) && !mayReadHere
      ? this.createNotPrimaryReply(command, NOT_PRIMARY_NO_SECONDARY_OK_CODE)
      : undefined;
  }

  /** Returns the error of a primary that steps down before it performs the write. It is elected again immediately. */
  refuseWriteOnce(command: Document): Document {
    const { primary } = this;
    this.changePrimary(undefined);
    const refusal = this.createNotPrimaryReply(command, NOT_WRITABLE_PRIMARY_CODE);
    this.changePrimary(primary);
    return refusal;
  }

  /**
   * Returns the reply of a primary that performed the write, and stepped down before a majority had it. A member that is
   * still the primary is elected again immediately.
   */
  addInterruptedWriteErrorToReply(command: Document, reply: Document): Document {
    const { primary } = this;
    this.changePrimary(undefined);
    const writeConcernError = { ...INTERRUPTED_BY_ELECTION_ERROR, errmsg: 'operation was interrupted' };
    const interrupted = {
      ...reply,
      writeConcernError,
      ...createRetryableErrorLabel(command),
      topologyVersion: this.createTopologyVersion(),
    };
    this.changePrimary(primary);
    return interrupted;
  }

  private createNotPrimaryReply(
    command: Document,
    error: { readonly code: number; readonly codeName: string },
  ): Document {
    const topologyVersion = this.createTopologyVersion();
    return { ok: 0, errmsg: 'not primary', ...error, ...createRetryableErrorLabel(command), topologyVersion };
  }

  private createTopologyVersion(): Document {
    return { processId: this.processId, counter: Long.fromNumber(this.version) };
  }
}

/** The server labels errors of retryable writes, which have a transaction number. */
function createRetryableErrorLabel(command: Document): Document {
  return 'txnNumber' in command ? { errorLabels: ['RetryableWriteError'] } : {};
}
