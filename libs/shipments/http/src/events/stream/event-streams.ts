import { RequestError } from '@tracking/http';
import type { Counter, Metrics } from '@tracking/ports';
import { Busy } from '@tracking/ports';
import { EventStream, type EventStreamParts, type EventStreamTimes, type StreamEnd } from './event-stream.ts';

export interface EventStreamSettings extends EventStreamTimes {
  /** Most streams of one key or session at once, in this process. */
  readonly maxPerCredential: number;
  /** Most streams at once, in this process. */
  readonly maxOpen: number;
}

/**
 * What is found of a key is used for 3 s: one that was admitted at a look of the last 2 s was valid 5 s ago at the
 * earliest.
 */
const DEFAULTS: EventStreamSettings = {
  heartbeatMs: 15_000,
  admissionMs: 1_000,
  admittedForMs: 2_000,
  stalledMs: 30_000,
  retryMs: 2_000,
  maxPerCredential: 20,
  maxOpen: 5_000,
};
const TICK_MS = 250;

/** All streams of this process. One timer looks after them, while there are any. */
export class EventStreams {
  private readonly settings: EventStreamSettings;
  private readonly open = new Set<EventStream>();
  private readonly perCredential = new Map<string, number>();
  private reserved = 0;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;
  private readonly endings: Counter;

  constructor(metrics: Metrics, settings: Partial<EventStreamSettings> = {}) {
    this.settings = { ...DEFAULTS, ...settings };
    metrics.gauge('event_streams_open', 'Event streams that clients read from this process.', [], () => this.open.size);
    this.endings = metrics.counter('event_streams_ended_total', 'Event streams that ended, by why.', ['reason']);
  }

  /**
   * Makes room for one more.
   * @returns what gives it back
   * @throws RequestError `too_many_streams`, Busy
   */
  reserve(credentialId: string): () => void {
    const { maxPerCredential, maxOpen } = this.settings;
    const theirs = this.perCredential.get(credentialId) ?? 0;
    if (theirs >= maxPerCredential) {
      const message = `There are ${maxPerCredential} streams of this key or session already: end one of them first.`;
      throw new RequestError('too_many_streams', message, [], { 'Retry-After': '5' });
    }
    if (this.closed || this.reserved >= maxOpen) throw new Busy('event streams', 'as many are open as may be');
    this.perCredential.set(credentialId, theirs + 1);
    this.reserved += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.reserved -= 1;
      const left = (this.perCredential.get(credentialId) ?? 1) - 1;
      if (left > 0) this.perCredential.set(credentialId, left);
      else this.perCredential.delete(credentialId);
    };
  }

  start(parts: Omit<EventStreamParts, 'times' | 'ended'>, release: () => void): void {
    const ended = (reason: StreamEnd) => {
      this.open.delete(stream);
      this.endings.add(1, { reason });
      release();
      if (this.open.size === 0) this.timer = void clearInterval(this.timer);
    };
    const stream = new EventStream({ ...parts, times: this.settings, ended });
    this.open.add(stream);
    this.timer ??= setInterval(() => this.tick(), TICK_MS);
    stream.start();
    if (this.closed) stream.close('draining');
  }

  /** Ends all of them at once; the clients come again at different times, elsewhere. */
  close(): void {
    this.closed = true;
    for (const stream of [...this.open]) stream.close('draining', this.settings.retryMs * (0.5 + Math.random()));
  }

  private tick(): void {
    const now = performance.now();
    for (const stream of [...this.open]) stream.tick(now);
  }
}
