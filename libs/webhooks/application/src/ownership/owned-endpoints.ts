import type { Collection, Lease } from '@tracking/ports';
import { type Random, isEnabled } from '@tracking/webhooks-domain';
import type { EndpointDocument, EndpointHealthDocument } from '../endpoints/endpoint-document.ts';
import type { EngineRetry } from '../engine-retry.ts';
import { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import type { DeliveryDocument } from '../store/delivery-document.ts';
import type { DeliveryQueues } from '../store/delivery-queues.ts';

interface OwnedEndpointsParts {
  readonly queues: DeliveryQueues;
  readonly health: Collection<EndpointHealthDocument>;
  readonly engines: EngineRetry;
  readonly random: Random;
  /** Deliveries held in memory over all endpoints. */
  readonly maxWaiting: number;
  readonly recoveryAfterMs: number;
}

/** Attempts the deliveries of the endpoints. */
export interface EndpointObserver {
  /** Something about the endpoint changed: it may have a delivery to attempt. */
  changed(owned: OwnedEndpoint): void;
  /** This process no longer attempts deliveries to the endpoint. */
  dropped(owned: OwnedEndpoint): void;
}

/** The endpoints that this process attempts. Reads into memory what each needs, and stores how each answers. */
export class OwnedEndpoints {
  private readonly endpoints = new Map<string, OwnedEndpoint>();
  private readonly observers: EndpointObserver[] = [];
  private readonly fills = new Map<OwnedEndpoint, Promise<void>>();
  /** Settle when the last write of the endpoint's health has ended. */
  private readonly saves = new WeakMap<OwnedEndpoint, Promise<unknown>>();
  /** Counted by {@link tidy}, and estimated upwards in between. */
  private waiting = 0;

  constructor(private readonly parts: OwnedEndpointsParts) {}

  get all(): Iterable<OwnedEndpoint> {
    return this.endpoints.values();
  }
  get waitingInMemory(): number {
    return this.waiting;
  }

  get(endpointId: string): OwnedEndpoint | undefined {
    return this.endpoints.get(endpointId);
  }

  observe(observer: EndpointObserver): void {
    this.observers.push(observer);
  }

  changed(owned: OwnedEndpoint): void {
    for (const observer of this.observers) observer.changed(owned);
  }

  /**
   * @param lease under which it is owned
   * @param empty whether no stored delivery waits for this endpoint
   */
  open(endpoint: EndpointDocument, lease: Lease, empty: boolean): OwnedEndpoint {
    const known = this.endpoints.get(endpoint.id);
    if (known !== undefined) {
      known.setEndpoint(endpoint);
      return known;
    }
    const owned = new OwnedEndpoint(endpoint, lease, empty);
    this.endpoints.set(endpoint.id, owned);
    return owned;
  }

  /** Attempts end and are stored; no more begin. */
  drop(owned: OwnedEndpoint): void {
    owned.state.drop();
    if (this.endpoints.get(owned.id) === owned) this.endpoints.delete(owned.id);
    for (const observer of this.observers) observer.dropped(owned);
  }

  /** Most scheduled deliveries to hold for it. When memory is full every endpoint still gets as many as it may attempt. */
  room(owned: OwnedEndpoint): number {
    if (this.waiting < this.parts.maxWaiting) return owned.room;
    return Math.min(owned.room, owned.state.concurrency?.allowed ?? 0);
  }

  /** Returns true if something has to be read before it can continue, or could be. */
  needsRead(owned: OwnedEndpoint): boolean {
    return owned.state.concurrency === undefined || owned.wantsRefill(this.room(owned));
  }

  /** Reads what the endpoint needs: how it has been answering, and the next of its deliveries. One call at a time reads. */
  fill(owned: OwnedEndpoint): Promise<void> {
    const running = this.fills.get(owned);
    if (running !== undefined) return running;
    const filling = this.parts.engines
      .retryOrLog('reading what waits for an endpoint', () => this.read(owned))
      .then(() => {
        this.fills.delete(owned);
        this.changed(owned);
      });
    this.fills.set(owned, filling);
    return filling;
  }

  /**
   * Stores how the present URL has been answering, as far as that has to outlive the process.
   * @param now in epoch milliseconds
   * @returns false if another process has owned the endpoint since
   */
  saveHealth(owned: OwnedEndpoint, now: number): Promise<boolean> {
    // One write at a time: of two the store may apply the newer one first.
    const saved = (this.saves.get(owned) ?? Promise.resolve()).then(() => this.writeHealth(owned, now));
    this.saves.set(
      owned,
      saved.catch(() => undefined),
    );
    return saved;
  }

  /** Counts the deliveries in memory and drops endpoints without anything to do. */
  tidy(): void {
    this.waiting = 0;
    const now = performance.now();
    for (const owned of this.endpoints.values()) {
      this.waiting += owned.waiting;
      if (owned.hasBeenIdle(now)) this.drop(owned);
    }
  }

  private async read(owned: OwnedEndpoint): Promise<void> {
    if (owned.state.concurrency === undefined) {
      owned.state.setHealth(await this.parts.health.get(owned.id), this.parts);
    }
    while (owned.wantsRefill(this.room(owned))) await this.refill(owned);
  }

  private async refill(owned: OwnedEndpoint): Promise<void> {
    const knownAt = performance.now();
    const refill = owned.beginRefill(this.room(owned));
    try {
      const [scheduled, express] = await Promise.all([
        refill.after === undefined ? [] : this.parts.queues.scheduledAfter(refill.after, owned.id, refill.limit),
        refill.expressLimit > 0 ? this.readExpress(owned, refill.expressLimit) : [],
      ]);
      owned.endRefill(refill, { scheduled, express }, knownAt);
      this.waiting += scheduled.length;
    } finally {
      owned.abandonRefill(refill);
    }
  }

  /** Reads deliveries that may go: others would take their place. */
  private readExpress({ id, endpoint }: OwnedEndpoint, limit: number): Promise<readonly DeliveryDocument[]> {
    const { queues } = this.parts;
    return isEnabled(endpoint) ? queues.express(id, limit) : queues.sandbox(id, limit);
  }

  private async writeHealth(owned: OwnedEndpoint, now: number): Promise<boolean> {
    const unsaved = owned.state.unsavedHealth(now);
    if (unsaved === undefined) return true;
    const { id, lease } = owned;
    const { health, url_revision } = unsaved;
    const document = { id, epoch: lease.epoch, ...(url_revision !== undefined && { url_revision }), ...health };
    const isOurs = await this.parts.health.upsert(document, { epoch: { lte: lease.epoch } });
    owned.state.markHealthSaved(unsaved);
    return isOurs;
  }
}
