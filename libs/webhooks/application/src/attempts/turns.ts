import type { Lane } from './lane.ts';
import { Rotation } from './rotation.ts';

/** Of all attempts at once, the part that endpoints may take whose latest answer was no success. */
const UNPROVEN_SHARE = 0.75;

/** Whose turn it is to make an attempt, and how many are under way. Endpoints that hang cannot take all of them. */
export class Turns {
  inFlight = 0;
  private unprovenInFlight = 0;
  private readonly proven = new Rotation<Lane>();
  private readonly unproven = new Rotation<Lane>();
  private provenFirst = true;

  /** @param most attempts at once */
  constructor(private readonly most: number) {}

  add(lane: Lane): void {
    (lane.pace?.proven ? this.proven : this.unproven).add(lane.workspace, lane);
  }

  remove(lane: Lane): void {
    this.proven.remove(lane.workspace, lane);
    this.unproven.remove(lane.workspace, lane);
  }

  /** The lane whose turn it is, if an attempt may be made. It leaves the queue. */
  next(): Lane | undefined {
    if (this.inFlight >= this.most) return undefined;
    this.provenFirst = !this.provenFirst;
    if (this.provenFirst) return this.proven.next() ?? this.nextUnproven();
    return this.nextUnproven() ?? this.proven.next();
  }

  /** Counts an attempt. What it answers ends it, once, and says whether it was still counted. */
  begin(lane: Lane): () => boolean {
    const unproven = lane.pace?.proven ? 0 : 1;
    let counted = true;
    this.inFlight += 1;
    this.unprovenInFlight += unproven;
    return () => {
      if (!counted) return false;
      counted = false;
      this.inFlight -= 1;
      this.unprovenInFlight -= unproven;
      return true;
    };
  }

  private nextUnproven(): Lane | undefined {
    return this.unprovenInFlight < this.most * UNPROVEN_SHARE ? this.unproven.next() : undefined;
  }
}
