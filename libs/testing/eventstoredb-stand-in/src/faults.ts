import { RequestRefusedError } from './records.ts';

/** Faults that the stand-in simulates. Absent faults stay unchanged. */
export interface InjectedFaults {
  /** While true, the node accepts requests and never responds. */
  readonly hang?: boolean;
  /** Number of appends that the node stores without responding: it cuts their connections instead. */
  readonly loseAnswers?: number;
  /** Number of appends after which the process kills itself, before it responds to the last one. */
  readonly dieAfterAppends?: number;
  /** True to end every subscription once, as if its consumer were too slow. */
  readonly dropSubscriptions?: true;
  /**
   * Number of events between two checkpoints of a filtered subscription, whatever the client requests; null for the
   * requested number.
   */
  readonly checkpointInterval?: number | null;
}

/** The current faults, as the services read them. */
export class FaultSwitches {
  checkpointInterval: number | null = null;
  private lostAnswers = 0;
  private appendsUntilCrash = Infinity;
  private endHang: (() => void) | undefined;
  private hang: Promise<void> | undefined;
  private readonly subscriptions = new Set<(reason: RequestRefusedError) => void>();
  private readonly cutConnections: () => void;

  constructor(cutConnections: () => void) {
    this.cutConnections = cutConnections;
  }

  setFaults(faults: InjectedFaults): void {
    if (faults.hang === true) this.hang ??= new Promise((resolve) => (this.endHang = resolve));
    if (faults.hang === false) {
      this.endHang?.();
      this.hang = undefined;
    }
    this.lostAnswers = faults.loseAnswers ?? this.lostAnswers;
    this.appendsUntilCrash = faults.dieAfterAppends ?? this.appendsUntilCrash;
    if (faults.checkpointInterval !== undefined) this.checkpointInterval = faults.checkpointInterval;
    if (faults.dropSubscriptions === true)
      this.endSubscriptions(new RequestRefusedError({ kind: 'consumer_too_slow' }));
  }

  /** Waits before a response while the node is set to hang. */
  async waitWhileHanging(): Promise<void> {
    while (this.hang !== undefined) await this.hang;
  }

  /** Applies faults after an append is stored. */
  onAppendStored(): void {
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
  registerSubscription(end: (reason: RequestRefusedError) => void): () => void {
    this.subscriptions.add(end);
    return () => this.subscriptions.delete(end);
  }
}
