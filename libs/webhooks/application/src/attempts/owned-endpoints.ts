import type { Collection, Lease } from '@tracking/ports';
import { type Random, isAttempted, urlRevision } from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { DeliveryDocument } from '../store/delivery-document.ts';
import type { DeliveryQueues } from '../store/delivery-queues.ts';
import { AdaptiveConcurrency, type EndpointHealth } from './adaptive-concurrency.ts';
import { OwnedEndpoint } from './owned-endpoint.ts';

export interface WindowLimits {
  /** Deliveries held in memory over all endpoints. */
  readonly maxWaiting: number;
  readonly recoveryAfterMs: number;
}

/** After this long without anything to do an endpoint is dropped from memory. */
const IDLE_MS = 300_000;

/** The endpoints that this process attempts, and how their windows are refilled from what is stored. */
export class OwnedEndpoints {
  private readonly endpoints = new Map<string, OwnedEndpoint>();
  /** Counted by {@link tidy}, and estimated upwards in between. */
  private waiting = 0;

  constructor(
    private readonly queues: DeliveryQueues,
    private readonly health: Collection<EndpointHealth>,
    private readonly limits: WindowLimits,
    private readonly random: Random,
  ) {}

  get all(): Iterable<OwnedEndpoint> {
    return this.endpoints.values();
  }
  get waitingInMemory(): number {
    return this.waiting;
  }

  get(endpointId: string): OwnedEndpoint | undefined {
    return this.endpoints.get(endpointId);
  }

  /**
   * @param lease under which it is owned
   * @param empty whether nothing is stored that waits for this endpoint
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

  drop(owned: OwnedEndpoint): void {
    owned.active = false;
    if (this.endpoints.get(owned.id) === owned) this.endpoints.delete(owned.id);
  }

  /** Most scheduled deliveries to hold for it. When memory is full every endpoint still gets as many as it may attempt. */
  room(owned: OwnedEndpoint): number {
    return this.waiting < this.limits.maxWaiting ? owned.room : Math.min(owned.room, owned.concurrency?.allowed ?? 0);
  }

  /** Whether something has to be read before it can go on, or could be. */
  isLacking(owned: OwnedEndpoint): boolean {
    return owned.concurrency === undefined || owned.window.wantsRefill(this.room(owned));
  }

  /** Reads what it needs to go on: how the endpoint has been answering, and the next of what waits. */
  async fill(owned: OwnedEndpoint): Promise<void> {
    if (owned.concurrency === undefined) {
      const { recoveryAfterMs } = this.limits;
      const found = await this.health.get(owned.id);
      const { max_concurrency: most } = owned.endpoint;
      const isOfUrl = found !== undefined && urlRevision(found) === urlRevision(owned.endpoint);
      const stored = isOfUrl ? found : undefined;
      owned.concurrency = new AdaptiveConcurrency(most, recoveryAfterMs, this.random, stored);
    }
    while (owned.window.wantsRefill(this.room(owned))) await this.refill(owned);
  }

  private async refill(owned: OwnedEndpoint): Promise<void> {
    const { window, id } = owned;
    const knownAt = performance.now();
    const refill = window.beginRefill(this.room(owned), owned.busy.size);
    try {
      const [scheduled, express] = await Promise.all([
        refill.after === undefined ? [] : this.queues.scheduledAfter(refill.after, id, refill.limit),
        refill.expressLimit > 0 ? this.express(owned, refill.expressLimit) : [],
      ]);
      window.endRefill(refill, { scheduled, express }, owned.busy, knownAt);
      this.waiting += scheduled.length;
    } finally {
      window.abandonRefill(refill);
    }
  }

  /** What may go of it: else what has to wait would keep out what need not. */
  private express({ id, endpoint }: OwnedEndpoint, limit: number): Promise<readonly DeliveryDocument[]> {
    return isAttempted(endpoint) ? this.queues.express(id, limit) : this.queues.sandbox(id, limit);
  }

  /**
   * Stores how the present URL has been answering, where that has to outlive the process.
   * @param now in epoch milliseconds
   * @returns false where another process has owned it since
   */
  saveHealth(owned: OwnedEndpoint, now: number): Promise<boolean> {
    // One write at a time: of two the store may apply the newer one first.
    const saved = owned.saving.then(() => this.writeHealth(owned, now));
    owned.saving = saved.catch(() => undefined);
    return saved;
  }

  private async writeHealth({ id, lease, concurrency, endpoint }: OwnedEndpoint, now: number): Promise<boolean> {
    const state = concurrency?.unsaved(now);
    if (state === undefined) return true;
    const { epoch } = lease;
    const { url_revision } = endpoint;
    const document = { id, epoch, ...(url_revision !== undefined && { url_revision }), ...state };
    const isOurs = await this.health.upsert(document, { epoch: { lte: epoch } });
    concurrency?.noteSaved(state);
    return isOurs;
  }

  /** Counts what is held and drops endpoints without anything to do. */
  tidy(): void {
    this.waiting = 0;
    const now = performance.now();
    for (const owned of this.endpoints.values()) {
      this.waiting += owned.window.scheduled.size;
      if (!owned.idle) owned.usedAt = now;
      else if (now - owned.usedAt > IDLE_MS) this.drop(owned);
    }
  }
}
