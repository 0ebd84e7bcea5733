import { RequestRefused } from './records.ts';

/** Faults that the stand-in simulates. Each is set by itself; faults that are not named stay as they are. */
export interface Faults {
  /** While true it takes everything in and answers nothing. */
  readonly hang?: boolean;
  /** So many appends are stored, and every connection cut in place of the answer. */
  readonly loseAnswers?: number;
  /** Once so many appends more are stored the process kills itself, before it answers the last of them. */
  readonly dieAfterAppends?: number;
  /** Ends every subscription once, as one whose consumer is too slow. */
  readonly dropSubscriptions?: true;
  /** Events between two checkpoints of a filtered subscription, whatever the client asks for; null: as it asks. */
  readonly checkpointInterval?: number | null;
}

/** The switches, as the services look at them. */
export class FaultSwitches {
  checkpointInterval: number | null = null;
  private lostAnswers = 0;
  private appendsToLive = Infinity;
  private goOn: (() => void) | undefined;
  private gate: Promise<void> | undefined;
  private readonly subscriptions = new Set<(reason: RequestRefused) => void>();
  private readonly cutConnections: () => void;

  constructor(cutConnections: () => void) {
    this.cutConnections = cutConnections;
  }

  set(faults: Faults): void {
    if (faults.hang === true) this.gate ??= new Promise((resolve) => (this.goOn = resolve));
    if (faults.hang === false) {
      this.goOn?.();
      this.gate = undefined;
    }
    this.lostAnswers = faults.loseAnswers ?? this.lostAnswers;
    this.appendsToLive = faults.dieAfterAppends ?? this.appendsToLive;
    if (faults.checkpointInterval !== undefined) this.checkpointInterval = faults.checkpointInterval;
    if (faults.dropSubscriptions === true) this.endSubscriptions(new RequestRefused({ kind: 'consumer_too_slow' }));
  }

  /** Before anything is answered. */
  async passGate(): Promise<void> {
    while (this.gate !== undefined) await this.gate;
  }

  /** After an append is stored. */
  stored(): void {
    this.appendsToLive -= 1;
    if (this.appendsToLive <= 0) process.kill(process.pid, 'SIGKILL');
    if (this.lostAnswers <= 0) return;
    this.lostAnswers -= 1;
    this.cutConnections();
  }

  /** How many are open. */
  get subscriptionCount(): number {
    return this.subscriptions.size;
  }

  endSubscriptions(reason: RequestRefused): void {
    for (const end of this.subscriptions) end(reason);
  }

  /** @returns call it when the subscription has ended */
  onEnd(end: (reason: RequestRefused) => void): () => void {
    this.subscriptions.add(end);
    return () => this.subscriptions.delete(end);
  }
}
