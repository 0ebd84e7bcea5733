import { RoundRobin } from './fair-scheduler.ts';

/** How an event loop has spent its time: both values only grow. In milliseconds. */
export interface LoopTime {
  readonly elapsed: number;
  /** The part of `elapsed` without anything to do. */
  readonly idle: number;
}

/** An endpoint whose attempts may have to wait for spare time. */
export interface PacedEndpoint {
  readonly workspace: string;
  /** Whether its next attempt is made in spare time only. */
  readonly isPaced: boolean;
  readonly isFailing: boolean;
}

/** What an attempt takes of loop and engine together, in milliseconds: more than it does, so that others keep the rest. */
export const ATTEMPT_MS = 2;
/** The price of an attempt at an endpoint that keeps failing: more attempts would reveal no more. */
const PROBE_MS = 4;
/** The price of up to 8 deliveries that a replay takes at a time: less for each than an attempt that may hang. */
const REPLAY_MS = 6;

/**
 * Endpoints that fail, deliveries that piled up meanwhile, and replays have their turn in the time that the event loop can
 * spare: at once if there is plenty, and later, in turn, if others keep the loop busy.
 */
export class Pacing<E extends PacedEndpoint> {
  private readonly spare: SpareTime;
  private readonly waiting = new RoundRobin<E>();

  constructor(now: LoopTime) {
    this.spare = new SpareTime(now);
  }

  /** Whether endpoints wait for spare time. */
  get isAwaited(): boolean {
    return !this.waiting.isEmpty;
  }

  /** Returns true if its next attempt may begin now. Otherwise {@link next} returns the endpoint later. */
  admits(endpoint: E, now: LoopTime): boolean {
    if (!endpoint.isPaced) return true;
    return this.pays(endpoint, endpoint.isFailing ? PROBE_MS : ATTEMPT_MS, now);
  }

  /** Returns true if its replay may take deliveries now. Otherwise {@link next} returns the endpoint later. */
  admitsReplay(endpoint: E, now: LoopTime): boolean {
    return this.pays(endpoint, REPLAY_MS, now);
  }

  /** Removes and returns the next endpoint that waits, if there is time to spare. */
  next(now: LoopTime): E | undefined {
    if (!this.spare.isEnough(now)) return undefined;
    return this.waiting.next(
      () => 1,
      () => 0,
    );
  }

  remove(endpoint: E): void {
    this.waiting.remove(endpoint.workspace, endpoint);
  }

  private pays(endpoint: E, price: number, now: LoopTime): boolean {
    if (this.spare.spend(price, now)) return true;
    this.waiting.add(endpoint.workspace, endpoint);
    return false;
  }
}

/** The part of all time that can be spent even if the loop is never idle: nobody waits for ever. */
const MIN_SHARE = 0.05;
/** Most time saved, in milliseconds: spent at once, it is what others wait for. */
const MAX_SAVED_MS = 10 * ATTEMPT_MS;

/** The time that the event loop can spare: as long as it was idle, and a small part of all time. */
export class SpareTime {
  private saved = MAX_SAVED_MS;

  constructor(private known: LoopTime) {}

  /** Returns true if there is enough for an attempt. */
  isEnough(now: LoopTime): boolean {
    this.saved += now.idle - this.known.idle + MIN_SHARE * (now.elapsed - this.known.elapsed);
    this.saved = Math.min(MAX_SAVED_MS, this.saved);
    this.known = now;
    return this.saved >= ATTEMPT_MS;
  }

  /** Spends this many milliseconds if there is enough for an attempt. The time to come pays off a higher price. */
  spend(price: number, now: LoopTime): boolean {
    if (!this.isEnough(now)) return false;
    this.saved -= price;
    return true;
  }
}
