import { setTimeout as pause } from 'node:timers/promises';
import type { Persistence } from '../attempts/persistence.ts';
import type { DeliveryDocument } from '../deliveries/delivery-document.ts';
import type { PayloadDocument } from '../deliveries/payloads.ts';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';

export interface Matched {
  readonly endpoint: EndpointDocument;
  readonly delivery: DeliveryDocument;
}

/** What is to be recorded at once: deliveries, and those of their payloads that are not stored yet. */
export interface Recording {
  readonly matched: readonly Matched[];
  readonly payloads: readonly PayloadDocument[];
}

interface Entry extends PromiseWithResolvers<void> {
  readonly recording: Recording;
  readonly fenced: AbortSignal;
}

/** Deliveries recorded together, about. */
const AT_ONCE = 320;
/** Longest wait for others to be recorded with. */
const LINGER_MS = 200;
/** More than this wait only where the engine does not keep up: then nothing more is taken in. */
const MOST = 5_000;

/**
 * Gathers deliveries of endpoints that are behind, which would not be attempted soon anyway, to be recorded many together
 * and behind those of endpoints that keep up.
 */
export class LateRecordings {
  private waiting: Entry[] = [];
  private readonly endpoints = new Set<string>();
  private size = 0;
  private flushed = 0;
  private running: Promise<void> | undefined;
  private enough = new AbortController();

  /** @param record stores and hands over */
  constructor(
    private readonly record: (recordings: readonly Recording[]) => Promise<void>,
    private readonly persistence: Persistence,
  ) {}

  /** Deliveries that are not recorded yet. */
  get count(): number {
    return this.size;
  }

  /** Counts those that were recorded together. */
  get flushes(): number {
    return this.flushed;
  }

  /** Whether any of them is for this endpoint: what follows it comes after it. */
  has(endpointId: string): boolean {
    return this.endpoints.has(endpointId);
  }

  /** Has the next ones recorded without delay; resolves when they are. */
  async next(): Promise<void> {
    this.enough.abort();
    await this.waiting[0]?.promise.catch(() => undefined);
  }

  /** Resolves when there is room for more. */
  async admit(): Promise<void> {
    while (this.size >= MOST) await this.waiting[0]?.promise.catch(() => undefined);
  }

  /** Resolves when they are recorded, or fenced: then another process does it. */
  add(recording: Recording, fenced: AbortSignal): Promise<void> {
    const entry = { recording, fenced, ...Promise.withResolvers<void>() };
    // Whoever added it may look only when it has added more.
    entry.promise.catch(() => undefined);
    this.waiting.push(entry);
    this.size += recording.matched.length;
    for (const { endpoint } of recording.matched) this.endpoints.add(endpoint.id);
    if (this.size >= AT_ONCE) this.enough.abort();
    this.running ??= this.run();
    return entry.promise;
  }

  private async run(): Promise<void> {
    while (this.waiting.length > 0) {
      await pause(LINGER_MS, undefined, { signal: this.enough.signal }).catch(() => undefined);
      this.enough = new AbortController();
      await this.flush();
      if (this.size >= AT_ONCE) this.enough.abort();
    }
    this.running = undefined;
  }

  private async flush(): Promise<void> {
    let deliveries = 0;
    const entries: Entry[] = [];
    for (const entry of this.waiting) {
      if (deliveries >= AT_ONCE) break;
      entries.push(entry);
      deliveries += entry.recording.matched.length;
    }
    const ours = () => entries.filter(({ fenced }) => !fenced.aborted).map(({ recording }) => recording);
    try {
      await this.persistence.until('recording deliveries', () => this.record(ours()));
      for (const { resolve } of entries) resolve();
    } catch (error) {
      for (const { reject } of entries) reject(error);
    }
    this.flushed += 1;
    this.waiting.splice(0, entries.length);
    this.size -= deliveries;
    this.endpoints.clear();
    for (const { recording } of this.waiting)
      for (const { endpoint } of recording.matched) this.endpoints.add(endpoint.id);
  }
}
