import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FollowedEvents } from '@tracking/read-models';
import { HEARTBEAT, idText, retryText } from './event-text.ts';

/** Why a stream ended, for its metric. */
export type StreamEnd = 'client' | 'refused' | 'stalled' | 'draining' | 'failed';

export interface EventStreamTimes {
  /** From one line to the next at most. */
  readonly heartbeatMs: number;
  /** From one look at the client's key or session to the next. */
  readonly admissionMs: number;
  /** How old the last look may be at which the client was still admitted. */
  readonly admittedForMs: number;
  /** How long a client may read nothing of what waits for it. */
  readonly stalledMs: number;
  /** When a client is to come again. */
  readonly retryMs: number;
}

export interface EventStreamParts {
  readonly response: ServerResponse;
  readonly headers: OutgoingHttpHeaders;
  readonly followed: FollowedEvents;
  /** Whether the client may still read it. @throws Unavailable */
  readonly isAdmitted: () => Promise<boolean>;
  readonly times: EventStreamTimes;
  readonly ended: (reason: StreamEnd) => void;
}

/**
 * The answer to one client. What waits for it in this process is what was written at once and not read yet: the next
 * events are asked for when that is gone.
 */
export class EventStream {
  private end: StreamEnd | undefined;
  private wroteAt = performance.now();
  private admittedAt = performance.now();
  private lookedAt = performance.now();
  private looking = false;
  private waitingSince: number | undefined;
  private drained: (() => void) | undefined;
  private lastId: string | undefined;

  constructor(private readonly parts: EventStreamParts) {
    const { response } = parts;
    response.on('close', () => this.finish('client'));
    // It is told by `close`, too.
    response.on('error', () => undefined);
    response.on('drain', () => this.drained?.());
  }

  start(): void {
    const { response, headers, followed, times } = this.parts;
    response.writeHead(200, headers);
    this.lastId = followed.begin;
    this.write(retryText(times.retryMs) + (this.lastId === undefined ? '' : idText(this.lastId)));
    this.tell().catch(() => this.close('failed'));
  }

  /** Looks at what is due. */
  tick(now: number): void {
    const { times, response } = this.parts;
    if (this.waitingSince !== undefined && now - this.waitingSince >= times.stalledMs) return this.destroy('stalled');
    const isUnsure = this.lookedAt > this.admittedAt;
    if (isUnsure && now - this.admittedAt > times.admittedForMs) return this.close('refused');
    if (!this.looking && now - this.lookedAt >= times.admissionMs) void this.look(now);
    if (!response.writableNeedDrain && now - this.wroteAt >= times.heartbeatMs) this.write(this.heartbeat());
  }

  /** What was begun is sent where the client reads; it comes again after about `retryMs` milliseconds. */
  close(reason: StreamEnd, retryMs?: number): void {
    if (this.end !== undefined) return;
    const { response } = this.parts;
    this.finish(reason);
    if (response.writableNeedDrain) response.destroy();
    else response.end(retryMs === undefined ? undefined : retryText(retryMs));
  }

  private async tell(): Promise<void> {
    const { response, followed } = this.parts;
    while (this.end === undefined) {
      const events = await followed.next();
      if (this.end !== undefined) return;
      for (const { bytes, id } of events) {
        this.write(bytes);
        this.lastId = id;
      }
      if (response.writableNeedDrain) await this.untilDrained();
    }
  }

  private async untilDrained(): Promise<void> {
    this.waitingSince = performance.now();
    await new Promise<void>((resolve) => (this.drained = resolve));
    this.waitingSince = undefined;
  }

  private async look(now: number): Promise<void> {
    this.looking = true;
    this.lookedAt = now;
    try {
      if (await this.parts.isAdmitted()) this.admittedAt = now;
      else this.close('refused');
    } catch {
      // Nobody can tell: looked at again, until the last answer is too old.
    } finally {
      this.looking = false;
    }
  }

  /** With the last event that came, where it is another than the client knows: it may be the only one kept in the end. */
  private heartbeat(): string {
    const id = this.parts.followed.passed;
    if (id === undefined || id === this.lastId) return HEARTBEAT;
    this.lastId = id;
    return idText(id);
  }

  private write(text: string | Uint8Array): void {
    this.parts.response.write(text);
    this.wroteAt = performance.now();
  }

  private destroy(reason: StreamEnd): void {
    this.finish(reason);
    this.parts.response.destroy();
  }

  private finish(reason: StreamEnd): void {
    if (this.end !== undefined) return;
    this.end = reason;
    this.parts.followed.leave();
    this.drained?.();
    this.parts.ended(reason);
  }
}
