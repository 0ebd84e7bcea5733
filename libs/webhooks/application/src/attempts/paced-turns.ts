import type { OwnedEndpoint } from './owned-endpoint.ts';
import { RoundRobin } from './round-robin.ts';
import { ATTEMPT_MS, type LoopTime, SpareTime } from './spare-time.ts';

/** How often it is looked whether there is time to spare, while an endpoint waits for it. */
const EVERY_MS = 5;

/** What an attempt pays at an endpoint that goes on failing: more of them would tell no more. */
const PROBE_MS = 4;

/** What a replay pays for up to 8 deliveries that it takes at a time: less for each than an attempt that may hang. */
const REPLAY_MS = 6;

/**
 * Endpoints that fail, what piled up for them meanwhile, and replays have their turn in the time that the event loop has to
 * spare: where there is plenty that is at once, and where others keep it busy they wait here.
 */
export class PacedTurns {
  private readonly spare: SpareTime;
  private readonly waiting = new RoundRobin<OwnedEndpoint>();
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  /** @param serve called when an endpoint that waited may try again */
  constructor(
    private readonly serve: (owned: OwnedEndpoint) => void,
    loopTime?: () => LoopTime,
  ) {
    this.spare = new SpareTime(loopTime);
  }

  /** Whether its next attempt may begin now. Otherwise it is served again when there is time to spare. */
  admits(owned: OwnedEndpoint): boolean {
    if (!owned.isPaced) return true;
    return this.pays(owned, owned.isFailing ? PROBE_MS : ATTEMPT_MS);
  }

  /** Whether its replay may take more now; otherwise as above. */
  admitsReplay(owned: OwnedEndpoint): boolean {
    return this.pays(owned, REPLAY_MS);
  }

  remove(owned: OwnedEndpoint): void {
    this.waiting.remove(owned.workspace, owned);
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }

  private pays(owned: OwnedEndpoint, price: number): boolean {
    if (this.spare.spend(price)) return true;
    this.waiting.add(owned.workspace, owned);
    this.look();
    return false;
  }

  private look(): void {
    if (this.closed) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      while (this.spare.isEnough) {
        const owned = this.next();
        if (owned === undefined) return;
        this.serve(owned);
      }
      this.look();
    }, EVERY_MS);
  }

  private next(): OwnedEndpoint | undefined {
    return this.waiting.next(
      () => 1,
      () => 0,
    );
  }
}
