import type { Collection, Lease } from '@tracking/ports';
import { type Random, type RetryPolicy, isEndpointEnabled } from '@tracking/webhooks-domain';
import type { EndpointDocument, EndpointHealthDocument } from '../endpoints/endpoint-document.ts';
import type { EngineOutageWorkRetrier } from '../engine-retry.ts';
import { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import type { ProcessClock } from '../scheduling/steady-time.ts';
import type { DeliveryDocument } from '../store/delivery-document.ts';
import type { DeliveryQueues } from '../store/delivery-queues.ts';

interface OwnedEndpointsDependencies {
  readonly queues: DeliveryQueues;
  readonly health: Collection<EndpointHealthDocument>;
  readonly engines: EngineOutageWorkRetrier;
  readonly random: Random;
  readonly time: ProcessClock;
  readonly policy: RetryPolicy;
  /** Maximum number of deliveries held in memory for all endpoints together. */
  readonly maxWaiting: number;
  readonly recoveryAfterMs: number;
}

/** Observer of the owned endpoints, which attempts their deliveries. */
export interface OwnedEndpointObserver {
  /** Called when an endpoint changed, because it may have a delivery to attempt. */
  onEndpointChange(owned: OwnedEndpoint): void;
  /**
   * Called when this process stops attempting deliveries to the endpoint. Resolves when the outcomes of all attempts in
   * progress are stored, and the endpoint is disabled if it answered 410.
   */
  onOwnedEndpointDropped(owned: OwnedEndpoint): Promise<void>;
}

/**
 * The endpoints that this process attempts. Reads their health and pending deliveries into memory, and stores their
 * health.
 */
export class OwnedEndpoints {
  private readonly endpoints = new Map<string, OwnedEndpoint>();
  private readonly observers: OwnedEndpointObserver[] = [];
  private readonly fills = new Map<OwnedEndpoint, Promise<void>>();
  /** Promises that settle when the last write of an endpoint's health has ended. */
  private readonly saves = new WeakMap<OwnedEndpoint, Promise<unknown>>();
  /**
   * Number of deliveries in memory. {@link dropIdleEndpoints} counts exactly; between two counts the number is an upper
   * estimate.
   */
  private waiting = 0;

  constructor(private readonly dependencies: OwnedEndpointsDependencies) {}

  get all(): Iterable<OwnedEndpoint> {
    return this.endpoints.values();
  }
  get waitingInMemory(): number {
    return this.waiting;
  }

  getEndpointOwnedByProcess(endpointId: string): OwnedEndpoint | undefined {
    return this.endpoints.get(endpointId);
  }

  addEndpointObserver(observer: OwnedEndpointObserver): void {
    this.observers.push(observer);
  }

  notifyEndpointObservers(owned: OwnedEndpoint): void {
    for (const observer of this.observers) observer.onEndpointChange(owned);
  }

  /**
   * @param lease lease under which this process owns the endpoint
   * @param empty true if no stored delivery is pending for the endpoint
   */
  getOrCreateOwnedEndpoint(endpoint: EndpointDocument, lease: Lease, empty: boolean): OwnedEndpoint {
    const known = this.endpoints.get(endpoint.id);
    if (known !== undefined) {
      known.setEndpointUnlessOutdated(endpoint);
      return known;
    }
    const owned = new OwnedEndpoint(endpoint, lease, empty, this.dependencies);
    this.endpoints.set(endpoint.id, owned);
    return owned;
  }

  /**
   * Drops an endpoint. Attempts in progress are completed and stored; no new ones start. Resolves when the outcomes of
   * all attempts are stored, and the endpoint is disabled if it answered 410.
   */
  async stopOwningEndpoint(owned: OwnedEndpoint): Promise<void> {
    owned.state.markEndpointDropped();
    if (this.endpoints.get(owned.id) === owned) this.endpoints.delete(owned.id);
    await Promise.all(this.observers.map((observer) => observer.onOwnedEndpointDropped(owned)));
  }

  /**
   * Returns the maximum number of scheduled deliveries to hold for the endpoint. If memory is full, each endpoint may
   * still hold as many as it may attempt concurrently.
   */
  computeMaxDeliveriesHeldInMemory(owned: OwnedEndpoint): number {
    if (this.waiting < this.dependencies.maxWaiting) return owned.room;
    return Math.min(owned.room, owned.state.concurrency?.allowed ?? 0);
  }

  /** Returns true if the endpoint's health is not read yet, or if the window has capacity for more deliveries. */
  needsDeliveryWindowFill(owned: OwnedEndpoint): boolean {
    return (
      owned.state.concurrency === undefined || owned.needsStoredDeliveries(this.computeMaxDeliveriesHeldInMemory(owned))
    );
  }

  /** Reads the endpoint's health and its next deliveries. Concurrent calls share one read. */
  loadHealthAndNextDeliveries(owned: OwnedEndpoint): Promise<void> {
    const running = this.fills.get(owned);
    if (running !== undefined) return running;
    const filling = this.dependencies.engines
      .retryOrLog("reading an endpoint's pending deliveries", () => this.readEndpointHealthAndFillDeliveryWindow(owned))
      .then(() => {
        this.fills.delete(owned);
        this.notifyEndpointObservers(owned);
      });
    this.fills.set(owned, filling);
    return filling;
  }

  /**
   * Stores the health of the endpoint's current URL, as far as it must outlive the process.
   * @param now in time of this process
   * @returns false if another process took over the endpoint in the meantime
   */
  saveEndpointHealth(owned: OwnedEndpoint, now: number): Promise<boolean> {
    // Write once at a time: the store could apply concurrent writes in the wrong order.
    const saved = (this.saves.get(owned) ?? Promise.resolve()).then(() => this.writeEndpointHealth(owned, now));
    this.saves.set(
      owned,
      saved.catch(() => undefined),
    );
    return saved;
  }

  /** Counts the deliveries in memory and drops idle endpoints. */
  dropIdleEndpoints(): void {
    this.waiting = 0;
    const now = performance.now();
    for (const owned of this.endpoints.values()) {
      this.waiting += owned.waiting;
      if (owned.isEndpointIdleTooLong(now)) void this.stopOwningEndpoint(owned);
    }
  }

  private async readEndpointHealthAndFillDeliveryWindow(owned: OwnedEndpoint): Promise<void> {
    if (owned.state.concurrency === undefined) {
      owned.state.restoreEndpointHealth(await this.dependencies.health.get(owned.id), this.dependencies);
    }
    while (owned.needsStoredDeliveries(this.computeMaxDeliveriesHeldInMemory(owned)))
      await this.refillDeliveryWindow(owned);
  }

  private async refillDeliveryWindow(owned: OwnedEndpoint): Promise<void> {
    const knownAt = performance.now();
    const refill = owned.beginDeliveriesRefill(this.computeMaxDeliveriesHeldInMemory(owned));
    try {
      const [scheduled, express] = await Promise.all([
        refill.after === undefined
          ? []
          : this.dependencies.queues.readScheduledDeliveriesAfter(refill.after, owned.endpoint, refill.limit),
        refill.expressLimit > 0 ? this.readExpressDeliveries(owned, refill.expressLimit) : [],
      ]);
      owned.addRefilledDeliveries(refill, { scheduled, express }, knownAt);
      this.waiting += scheduled.length;
    } finally {
      owned.abandonRefill(refill);
    }
  }

  /** Reads only express deliveries that the endpoint may receive. Deliveries on hold would fill the window. */
  private readExpressDeliveries({ endpoint }: OwnedEndpoint, limit: number): Promise<readonly DeliveryDocument[]> {
    const { queues } = this.dependencies;
    return isEndpointEnabled(endpoint)
      ? queues.readExpressDeliveries(endpoint, limit)
      : queues.readPendingSandboxEventDeliveries(endpoint, limit);
  }

  private async writeEndpointHealth(owned: OwnedEndpoint, now: number): Promise<boolean> {
    const unsaved = owned.state.getUnsavedHealth(now);
    if (unsaved === undefined) return true;
    const { id, lease } = owned;
    const { health, url_revision } = unsaved;
    const document = { id, epoch: lease.epoch, ...(url_revision !== undefined && { url_revision }), ...health };
    const isOurs = await this.dependencies.health.upsert(document, { epoch: { lte: lease.epoch } });
    owned.state.markHealthSaved(unsaved);
    return isOurs;
  }
}
