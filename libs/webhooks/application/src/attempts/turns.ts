import type { Lane } from './lane.ts';
import { Rotation } from './rotation.ts';

/** Of all attempts at once, the part that endpoints may take whose latest answer was no success. */
const UNPROVEN_SHARE = 0.75;
/** The part of which there may be several at once to one of them: what is left is for those that have none under way. */
const REPEATED_SHARE = UNPROVEN_SHARE / 2;

/** Whose turn it is to make an attempt, and how many are under way. Endpoints that hang cannot take all of them. */
export class Turns {
  inFlight = 0;
  private unprovenInFlight = 0;
  private readonly proven = new Rotation<Lane>();
  /** Unproven, and without an attempt under way. */
  private readonly untried = new Rotation<Lane>();
  private readonly unproven = new Rotation<Lane>();
  private provenFirst = true;

  /** @param most attempts at once */
  constructor(private readonly most: number) {}

  add(lane: Lane): void {
    const unproven = lane.attempting === 0 ? this.untried : this.unproven;
    (lane.pace?.proven ? this.proven : unproven).add(lane.workspace, lane);
  }

  remove(lane: Lane): void {
    for (const queue of [this.proven, this.untried, this.unproven]) queue.remove(lane.workspace, lane);
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
    if (this.unprovenInFlight >= this.most * UNPROVEN_SHARE) return undefined;
    return (
      this.untried.next() ?? (this.unprovenInFlight < this.most * REPEATED_SHARE ? this.unproven.next() : undefined)
    );
  }
}
