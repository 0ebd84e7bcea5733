import { UnavailableError } from '@tracking/ports';
import { pauseFor } from '@tracking/resilience';
import { ENGINE_NAME } from './mongo-errors.ts';

/** Milliseconds without an answer after which the monitor pings the server. */
const PING_AFTER_MS = 600;
/** Milliseconds without an answer to a ping after which the server counts as silent. */
const PING_TIMEOUT_MS = 1_500;
/** Milliseconds after which another ping is sent, because one connection or one member of a set may be broken. */
const PING_INTERVAL_MS = 1_000;
const SILENCE_CHECK_INTERVAL_MS = 100;
/** Milliseconds that count between two checks, however late this process is. */
const MAX_SILENT_MS_COUNTED_PER_CHECK = 150;

interface OperationAwaitingAnswer {
  /** Monotonic time in milliseconds. */
  readonly startedAt: number;
  fail(error: UnavailableError): void;
}

/**
 * Detects that the server answers nothing: within 2.1 s, or later if this process is busy. Then all waiting operations
 * fail together, and later ones fail immediately, until the server answers a ping. Without the monitor, a request that
 * needs several operations would wait for the deadline of each. A server that answers pings is not silent, however long
 * its operations take.
 */
export class MongoServerSilenceMonitor {
  private readonly waiting = new Set<OperationAwaitingAnswer>();
  /** Monotonic time of the latest answer. */
  private answeredAt = -Infinity;
  /** Monotonic time of the latest ping. */
  private pingedAt = -Infinity;
  /** Number of pings without an outcome yet. */
  private runningPings = 0;
  /** Milliseconds of silence since the first unanswered ping, without time in which this process was busy. */
  private silentMs = 0;
  private isWatching = false;
  private isServerSilent = false;

  /**
   * @param ping resolves if any server of the set answers; otherwise rejects, after a limited time
   * @param onSilence called each time the server becomes silent
   */
  constructor(
    private readonly ping: () => Promise<unknown>,
    private readonly onSilence: () => void = () => undefined,
  ) {}

  /** @throws UnavailableError if the server is silent */
  throwIfServerIsSilent(): void {
    if (this.isServerSilent) throw createUnresponsiveServerError();
  }

  /** Settles like the operation, or rejects with `UnavailableError` when the server becomes silent. */
  rejectCallIfSilent<R>(operation: Promise<R>): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      const entry = { startedAt: performance.now(), fail: reject };
      this.waiting.add(entry);
      if (!this.isWatching) void this.pingServerAndFailOperationsIfSilent();
      operation.finally(() => this.waiting.delete(entry)).then(resolve, reject);
    });
  }

  /** Records that the server answered. */
  recordServerAnswer(): void {
    this.answeredAt = performance.now();
    this.silentMs = 0;
    this.isServerSilent = false;
  }

  /** Runs while operations wait, or the server is silent. */
  private async pingServerAndFailOperationsIfSilent(): Promise<void> {
    this.isWatching = true;
    this.silentMs = 0;
    while (this.waiting.size > 0 || this.isServerSilent) {
      const beforePingMs = this.isServerSilent ? 0 : PING_AFTER_MS - this.computeServerSilenceMs();
      if (beforePingMs > 0) {
        await pauseFor(beforePingMs);
        continue;
      }
      if (this.runningPings === 0 || performance.now() - this.pingedAt >= PING_INTERVAL_MS) void this.pingServer();
      await this.measureServerSilenceUntilCheck();
      if (!this.isServerSilent && this.silentMs >= PING_TIMEOUT_MS) this.failOperationsOfSilentServer();
    }
    this.isWatching = false;
  }

  /** Returns the milliseconds for which an operation has waited without any answer of the server. */
  private computeServerSilenceMs(): number {
    const [oldest] = this.waiting;
    return oldest === undefined ? 0 : performance.now() - Math.max(oldest.startedAt, this.answeredAt);
  }

  /** Never rejects. */
  private async pingServer(): Promise<void> {
    this.pingedAt = performance.now();
    this.runningPings += 1;
    await this.ping().then(
      () => this.recordServerAnswer(),
      () => undefined,
    );
    this.runningPings -= 1;
  }

  /** Waits for the next check, and counts the silence until then. */
  private async measureServerSilenceUntilCheck(): Promise<void> {
    const startedAt = performance.now();
    await pauseFor(SILENCE_CHECK_INTERVAL_MS);
    // After a delay, timers run before the process reads answers that have arrived meanwhile. Immediates run afterwards.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    this.silentMs += Math.min(
      performance.now() - Math.max(startedAt, this.answeredAt),
      MAX_SILENT_MS_COUNTED_PER_CHECK,
    );
  }

  private failOperationsOfSilentServer(): void {
    this.isServerSilent = true;
    this.onSilence();
    for (const { fail } of this.waiting) fail(createUnresponsiveServerError());
    this.waiting.clear();
  }
}

function createUnresponsiveServerError(): UnavailableError {
  return new UnavailableError(ENGINE_NAME, 'the server does not respond');
}
