import { RequestRefusedError } from './records.ts';

/** Faults that the stand-in simulates. Absent faults stay unchanged. */
export interface InjectedFaults {
  /** While true, the node accepts requests and never responds. */
  readonly hang?: boolean;
  /** Number of appends that the node stores without responding: it cuts their connections instead. */
  readonly loseAnswers?: number;
  /** True to ignore all further appends of the batch calls that are open now. Their connections stay open. */
  readonly muteBatchCalls?: true;
  /** Number of appends after which the process kills itself, before it responds to the last one. */
  readonly dieAfterAppends?: number;
  /** True to end every subscription once, as if its consumer were too slow. */
  readonly dropSubscriptions?: true;
  /**
   * Number of events between two checkpoints of a filtered subscription, whatever the client requests; null for the
   * requested number.
   */
  readonly checkpointInterval?: number | null;
  /**
   * While true, the node neither reads nor answers requests, like a stopped process. Its connections stay open. The
   * others elect another leader.
   */
  readonly freeze?: boolean;
  /** While true, the node is down: it has no connections and accepts none. The others elect another leader. */
  readonly down?: boolean;
  /** While true, the node receives no new events from the leader. */
  readonly lag?: boolean;
  /** True to make the node the leader. The former leader follows and keeps its connections. */
  readonly lead?: true;
}

/** A switch that makes requests wait while it is on. */
class RequestDelaySwitch {
  private released: PromiseWithResolvers<void> | undefined;

  get isOn(): boolean {
    return this.released !== undefined;
  }

  holdOrReleaseRequests(isOn: boolean): void {
    if (isOn) this.released ??= Promise.withResolvers();
    else {
      this.released?.resolve();
      this.released = undefined;
    }
  }

  /** Resolves when the switch is off. */
  async waitUntilRequestDelayEnds(): Promise<void> {
    while (this.released !== undefined) await this.released.promise;
  }
}

/** The current faults, as the services read them. */
export class FaultSwitches {
  checkpointInterval: number | null = null;
  /** Number of times that the open batch calls were muted. */
  batchCallMutings = 0;
  private lostAnswers = 0;
  private appendsUntilCrash = Infinity;
  private readonly hang = new RequestDelaySwitch();
  private readonly freeze = new RequestDelaySwitch();
  private readonly subscriptions = new Set<(reason: RequestRefusedError) => void>();
  private readonly cutConnections: () => void;

  constructor(cutConnections: () => void) {
    this.cutConnections = cutConnections;
  }

  setFaults(faults: InjectedFaults): void {
    if (faults.hang !== undefined) this.hang.holdOrReleaseRequests(faults.hang);
    if (faults.freeze !== undefined) this.freeze.holdOrReleaseRequests(faults.freeze);
    this.lostAnswers = faults.loseAnswers ?? this.lostAnswers;
    this.appendsUntilCrash = faults.dieAfterAppends ?? this.appendsUntilCrash;
    if (faults.checkpointInterval !== undefined) this.checkpointInterval = faults.checkpointInterval;
    if (faults.muteBatchCalls === true) this.batchCallMutings += 1;
    if (faults.dropSubscriptions === true)
      this.endSubscriptions(new RequestRefusedError({ kind: 'consumer_too_slow' }));
  }

  /** True while the node neither reads nor answers requests. */
  get isFrozen(): boolean {
    return this.freeze.isOn;
  }

  /** Waits before a request is read while the node is frozen. */
  waitWhileFrozen(): Promise<void> {
    return this.freeze.waitUntilRequestDelayEnds();
  }

  /** Waits before a response while the node is set to hang. */
  async waitWhileNodeHangs(): Promise<void> {
    while (this.hang.isOn || this.freeze.isOn) {
      await this.hang.waitUntilRequestDelayEnds();
      await this.freeze.waitUntilRequestDelayEnds();
    }
  }

  /** Applies faults after an append is stored. */
  injectFaultsAfterAppend(): void {
    this.appendsUntilCrash -= 1;
    if (this.appendsUntilCrash <= 0) process.kill(process.pid, 'SIGKILL');
    if (this.lostAnswers <= 0) return;
    this.lostAnswers -= 1;
    this.cutConnections();
  }

  /** Number of open subscriptions. */
  get subscriptionCount(): number {
    return this.subscriptions.size;
  }

  endSubscriptions(reason: RequestRefusedError): void {
    for (const end of this.subscriptions) end(reason);
  }

  /** @returns a function to call when the subscription has ended */
  addEndableSubscription(end: (reason: RequestRefusedError) => void): () => void {
    this.subscriptions.add(end);
    return () => this.subscriptions.delete(end);
  }
}
