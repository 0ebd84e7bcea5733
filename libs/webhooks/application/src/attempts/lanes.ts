import type { Collection } from '@tracking/ports';
import type { Random } from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import { Lane } from './lane.ts';
import { type EndpointCondition, Pace } from './pace.ts';
import type { Queues } from './queues.ts';

export interface LaneLimits {
  /** Deliveries held in memory over all lanes. */
  readonly maxWaiting: number;
  readonly recoveryAfterMs: number;
}

/** After this long without anything to do a lane is forgotten. */
const IDLE_MS = 300_000;

/** The lanes of the endpoints that this process attempts, and how they are filled from what is stored. */
export class Lanes {
  private readonly lanes = new Map<string, Lane>();
  /** Counted by {@link tidy}, and estimated upwards in between. */
  private waiting = 0;

  constructor(
    private readonly queues: Queues,
    private readonly conditions: Collection<EndpointCondition>,
    private readonly limits: LaneLimits,
    private readonly random: Random,
  ) {}

  get all(): Iterable<Lane> {
    return this.lanes.values();
  }
  get waitingInMemory(): number {
    return this.waiting;
  }

  get(endpointId: string): Lane | undefined {
    return this.lanes.get(endpointId);
  }

  /**
   * @param epoch of the lease under which it is owned
   * @param empty whether nothing is stored that waits for this endpoint
   */
  open(endpoint: EndpointDocument, epoch: number, empty: boolean): Lane {
    const known = this.lanes.get(endpoint.id);
    if (known !== undefined) {
      known.setEndpoint(endpoint);
      return known;
    }
    const lane = new Lane(endpoint, epoch, empty);
    this.lanes.set(endpoint.id, lane);
    return lane;
  }

  drop(lane: Lane): void {
    lane.active = false;
    if (this.lanes.get(lane.id) === lane) this.lanes.delete(lane.id);
  }

  /** Most scheduled deliveries to hold for it. When memory is full every endpoint still gets as many as it may attempt. */
  room(lane: Lane): number {
    return this.waiting < this.limits.maxWaiting ? lane.room : Math.min(lane.room, lane.pace?.allowed ?? 0);
  }

  /** Whether a lane has to be filled before it can go on, or could be. */
  isLacking(lane: Lane): boolean {
    return lane.pace === undefined || lane.backlog.wantsPage(this.room(lane));
  }

  /** Reads what a lane needs to go on: how its endpoint has been answering, and the next of what waits. */
  async fill(lane: Lane): Promise<void> {
    if (lane.pace === undefined) {
      const condition = await this.conditions.get(lane.id);
      lane.pace = new Pace(lane.endpoint.max_concurrency, this.limits.recoveryAfterMs, this.random, condition);
    }
    while (lane.backlog.wantsPage(this.room(lane))) {
      const knownAt = performance.now();
      const page = lane.backlog.beginPage(this.room(lane));
      try {
        const content = await this.queues.read(lane.id, page);
        lane.backlog.endPage(page, content, lane.busy, knownAt);
        this.waiting += content.scheduled.length;
      } finally {
        lane.backlog.abandonPage(page);
      }
    }
  }

  /** Stores how its endpoint has been answering, where that has to outlive the process. */
  async remember(lane: Lane, now: number): Promise<void> {
    const condition = lane.pace?.unsaved(now);
    if (condition === undefined) return;
    const { id, epoch } = lane;
    await this.conditions.upsert({ id, epoch, ...condition }, { epoch: { lte: epoch } });
  }

  /** Counts what is held and forgets lanes without anything to do. */
  tidy(): void {
    this.waiting = 0;
    const now = performance.now();
    for (const lane of this.lanes.values()) {
      this.waiting += lane.backlog.scheduled.size;
      if (!lane.idle) lane.usedAt = now;
      else if (now - lane.usedAt > IDLE_MS) this.drop(lane);
    }
  }
}
