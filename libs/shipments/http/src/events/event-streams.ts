import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { EventEnvelope, Principal } from '@tracking/contracts';
import { describeCredentialKindOfActor, RequestError } from '@tracking/http';
import type { Counter, Metrics } from '@tracking/ports';
import { BusyError } from '@tracking/ports';
import type { PublishedEventFollower } from '@tracking/read-models';

interface EventStreamTimeLimits {
  /** Maximum milliseconds between two lines of a stream. */
  readonly heartbeatMs: number;
  /** Milliseconds between two checks of the client's key or session. */
  readonly admissionMs: number;
  /** Maximum age in milliseconds of the last successful check of the client's key or session. */
  readonly admittedForMs: number;
  /** Maximum milliseconds for which a client may leave sent data unread. */
  readonly stalledMs: number;
  /** Milliseconds after which a client reconnects. */
  readonly retryMs: number;
}

export interface EventStreamSettings extends EventStreamTimeLimits {
  /** Maximum number of open streams of one key or session, in this process. */
  readonly maxPerCredential: number;
  /** Maximum number of open streams of all keys and sessions of one user or service account, in this process. */
  readonly maxPerOwner: number;
  /** Maximum number of open streams of one workspace, in this process. */
  readonly maxPerWorkspace: number;
  /** Maximum number of open streams in this process. */
  readonly maxOpen: number;
}

/**
 * Default intervals and limits of event streams. The result of a key check is cached for 3 s. A client that passed a
 * check in the last 2 s therefore had a valid key at most 5 s ago.
 */
const DEFAULT_SSE_STREAM_SETTINGS: EventStreamSettings = {
  heartbeatMs: 15_000,
  admissionMs: 1_000,
  admittedForMs: 2_000,
  stalledMs: 30_000,
  retryMs: 2_000,
  maxPerCredential: 20,
  maxPerOwner: 60,
  maxPerWorkspace: 500,
  maxOpen: 5_000,
};
const CLIENT_STREAM_DUE_WORK_INTERVAL_MS = 250;

/** Fields of a principal by which its open streams are counted. */
type StreamOwner = Pick<Principal, 'credential_id' | 'actor' | 'workspace_id'>;

/** All event streams of this process. While streams are open, one timer checks them. */
export class OpenEventStreams {
  private readonly settings: EventStreamSettings;
  private readonly open = new Set<EventStreamToClient>();
  /** Number of open streams by the id of each key, session, owner and workspace. */
  private readonly counts = new Map<string, number>();
  private reserved = 0;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;
  private readonly endings: Counter;

  constructor(metrics: Metrics, settings: Partial<EventStreamSettings> = {}) {
    this.settings = { ...DEFAULT_SSE_STREAM_SETTINGS, ...settings };
    metrics.createGauge(
      'event_streams_open',
      'Number of event streams that this process serves.',
      [],
      () => this.open.size,
    );
    this.endings = metrics.createCounter(
      'event_streams_ended_total',
      'Number of event streams that ended, by reason.',
      ['reason'],
    );
  }

  /**
   * Counts a new stream.
   * @returns a function that ends the counting
   * @throws RequestError `too_many_streams`, BusyError
   */
  reserveEventStreamSlot({ credential_id, actor, workspace_id }: StreamOwner): () => void {
    const { maxPerCredential, maxPerOwner, maxPerWorkspace, maxOpen } = this.settings;
    this.requireOpenEventStreamsBelowLimit(credential_id, maxPerCredential, 'This key or session has');
    this.requireOpenEventStreamsBelowLimit(
      actor.id,
      maxPerOwner,
      `All ${describeCredentialKindOfActor(actor)} together have`,
    );
    this.requireOpenEventStreamsBelowLimit(workspace_id, maxPerWorkspace, 'The workspace has');
    if (this.closed || this.reserved >= maxOpen)
      throw new BusyError('event streams', 'the maximum number of streams is open');
    const counted = [credential_id, actor.id, workspace_id];
    for (const id of counted) this.counts.set(id, (this.counts.get(id) ?? 0) + 1);
    this.reserved += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.reserved -= 1;
      for (const id of counted) {
        const left = (this.counts.get(id) ?? 1) - 1;
        if (left > 0) this.counts.set(id, left);
        else this.counts.delete(id);
      }
    };
  }

  /**
   * Registers a stream.
   * @param release ends the counting of the stream; called when the stream ends
   */
  startEventStream(client: ConnectedStreamClient, release: () => void): void {
    const onEnd = (reason: StreamEnd) => {
      this.open.delete(stream);
      this.endings.add(1, { reason });
      release();
      if (this.open.size === 0) this.timer = void clearInterval(this.timer);
    };
    const stream = new EventStreamToClient(client, this.settings, onEnd);
    this.open.add(stream);
    this.timer ??= setInterval(() => this.performDueWorkOfClientEventStreams(), CLIENT_STREAM_DUE_WORK_INTERVAL_MS);
    stream.startSendingEvents();
    if (this.closed) stream.endEventStream('draining');
  }

  /** Ends all streams. The clients reconnect to another process, at different times. */
  endAllStreams(): void {
    this.closed = true;
    for (const stream of [...this.open])
      stream.endEventStream('draining', this.settings.retryMs * (0.5 + Math.random()));
  }

  /** @throws RequestError `too_many_streams` */
  private requireOpenEventStreamsBelowLimit(id: string, limit: number, subject: string): void {
    if ((this.counts.get(id) ?? 0) < limit) return;
    const message = `${subject} ${limit} open event streams already. Close one first.`;
    throw new RequestError('too_many_streams', message, [], { 'Retry-After': '5' });
  }

  private performDueWorkOfClientEventStreams(): void {
    const now = performance.now();
    for (const stream of [...this.open]) stream.performDueStreamWork(now);
  }
}

/** Reason for the end of a stream. It is a label of a metric. */
type StreamEnd = 'client' | 'refused' | 'stalled' | 'draining' | 'failed';

interface ConnectedStreamClient {
  readonly response: ServerResponse;
  readonly headers: OutgoingHttpHeaders;
  readonly followed: PublishedEventFollower;
  /** Resolves to true if the client's key or session is still valid. @throws UnavailableError */
  readonly isAdmitted: () => Promise<boolean>;
}

/**
 * The event stream to one client. It requests further events only after the client has read the written events, so this
 * process holds at most one batch per stream.
 */
class EventStreamToClient {
  private end: StreamEnd | undefined;
  private wroteAt = performance.now();
  private admittedAt = performance.now();
  private checkedAt = performance.now();
  private isChecking = false;
  private waitingSince: number | undefined;
  private drained: (() => void) | undefined;
  private lastId: string | undefined;

  constructor(
    private readonly client: ConnectedStreamClient,
    private readonly times: EventStreamTimeLimits,
    private readonly onEnd: (reason: StreamEnd) => void,
  ) {
    const { response } = client;
    response.on('close', () => this.endEventStream('client'));
    // The `error` event needs no handler of its own, because `close` follows.
    response.on('error', () => undefined);
    response.on('drain', () => this.drained?.());
  }

  startSendingEvents(): void {
    const { response, headers, followed } = this.client;
    response.writeHead(200, headers);
    this.lastId = followed.startedAfter;
    this.writeText(
      encodeSseReconnectDelay(this.times.retryMs) +
        (this.lastId === undefined ? '' : encodeServerSentEventId(this.lastId)),
    );
    // The key may have ended since the request was admitted: the start can wait 5 s for an event of another process.
    this.recheckClientAdmission(performance.now())
      .then(() => this.writeEventsToClient())
      .catch(() => this.endEventStream('failed'));
  }

  /** Does what is due: ends the stream, checks the client or writes a heartbeat. */
  performDueStreamWork(now: number): void {
    const { times } = this;
    const { response } = this.client;
    if (this.waitingSince !== undefined && now - this.waitingSince >= times.stalledMs)
      return this.recordEndAndDestroyClientStream('stalled');
    const isUnsure = this.checkedAt > this.admittedAt;
    if (isUnsure && now - this.admittedAt > times.admittedForMs) return this.endEventStream('refused');
    if (!this.isChecking && now - this.checkedAt >= times.admissionMs) void this.recheckClientAdmission(now);
    if (!response.writableNeedDrain && now - this.wroteAt >= times.heartbeatMs)
      this.writeText(this.createEventStreamHeartbeat());
  }

  /**
   * Ends the stream after the events that are already written, unless the client does not read.
   * @param retryMs milliseconds after which the client reconnects
   */
  endEventStream(reason: StreamEnd, retryMs?: number): void {
    if (this.end !== undefined) return;
    const { response } = this.client;
    this.stopFollowingAndReportStreamEnd(reason);
    if (response.writableNeedDrain) response.destroy();
    else response.end(retryMs === undefined ? undefined : encodeSseReconnectDelay(retryMs));
  }

  private async writeEventsToClient(): Promise<void> {
    const { response, followed } = this.client;
    while (this.end === undefined) {
      const events = await followed.readNextEvents();
      if (this.end !== undefined) return;
      for (const { bytes, id } of events) {
        this.writeText(bytes);
        this.lastId = id;
      }
      if (response.writableNeedDrain) await this.waitUntilClientStreamDrained();
    }
  }

  private async waitUntilClientStreamDrained(): Promise<void> {
    this.waitingSince = performance.now();
    await new Promise<void>((resolve) => (this.drained = resolve));
    this.waitingSince = undefined;
  }

  private async recheckClientAdmission(now: number): Promise<void> {
    this.isChecking = true;
    this.checkedAt = now;
    try {
      if (await this.client.isAdmitted()) this.admittedAt = now;
      else this.endEventStream('refused');
    } catch {
      // Unknown: the check is repeated until the last successful one is too old.
    } finally {
      this.isChecking = false;
    }
  }

  /**
   * Returns the text of a heartbeat. It contains the id of the last event that the client's filters excluded, if the id
   * is new. When the client reconnects, this may be the only one of its ids that is still stored.
   */
  private createEventStreamHeartbeat(): string {
    const id = this.client.followed.resumeAfter;
    if (id === undefined || id === this.lastId) return HEARTBEAT_TEXT;
    this.lastId = id;
    return encodeServerSentEventId(id);
  }

  private writeText(text: string | Uint8Array): void {
    this.client.response.write(text);
    this.wroteAt = performance.now();
  }

  private recordEndAndDestroyClientStream(reason: StreamEnd): void {
    this.stopFollowingAndReportStreamEnd(reason);
    this.client.response.destroy();
  }

  private stopFollowingAndReportStreamEnd(reason: StreamEnd): void {
    if (this.end !== undefined) return;
    this.end = reason;
    this.client.followed.stopFollowing();
    this.drained?.();
    this.onEnd(reason);
  }
}

/**
 * Encodes an event for the stream (https://html.spec.whatwg.org/multipage/server-sent-events.html): its id, after which
 * a client continues, and the envelope. With an `event:` field, listeners of `message` would not receive the event.
 */
export function encodeServerSentEvent(envelope: EventEnvelope): Buffer {
  // JSON escapes line breaks, so the envelope is one line.
  return Buffer.from(`id: ${envelope.id}\ndata: ${JSON.stringify(envelope)}\n\n`);
}

/** Encodes an id without an event. A client that loses its connection later continues after this id. */
function encodeServerSentEventId(id: string): string {
  return `id: ${id}\n\n`;
}

/** Encodes the milliseconds after which the client reconnects. */
function encodeSseReconnectDelay(ms: number): string {
  return `retry: ${Math.round(ms)}\n\n`;
}

/** A comment line. It shows the client that the connection works. */
const HEARTBEAT_TEXT = ':\n\n';
