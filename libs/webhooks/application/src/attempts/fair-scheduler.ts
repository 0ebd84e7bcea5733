import type { OwnedEndpoint } from './owned-endpoint.ts';
import { RoundRobin } from './round-robin.ts';

/** Who is alone gets three quarters: 12 times the square of the quarter that stays free. */
const SHARE = 12;
/** Alone, two fifths. */
const SMALL_SHARE = 1;

/**
 * Most that one may have under way while so many of all stay free. It falls with the square of what is free: of those
 * who come one after the other, and give nothing back for long, each leaves something for the next.
 */
const shareOf = (free: number, all: number, share: number) => (share * free * free) / all;

interface Holdings {
  attempts: number;
  /** Of these, those at endpoints whose latest answer was no success. */
  unproven: number;
}
const NOTHING: Readonly<Holdings> = { attempts: 0, unproven: 0 };

/**
 * Whose turn it is to make an attempt, and how many are under way. An attempt cannot be taken back before its receiver
 * answers, so that nobody may hold what the next to come needs, however its receivers answer:
 *
 * - A workspace begins another attempt while it has no more than a share of all under way.
 * - An endpoint does while it has no more than a share of what its workspace has under way and may still begin.
 * - Endpoints whose latest answer was no success share alike, all together and those of a workspace: a share of all, and
 *   a share of what their workspace has and may begin; a small one where the endpoint has an attempt under way already.
 */
export class FairScheduler {
  private readonly total: Holdings = { ...NOTHING };
  /** Of workspaces with an attempt under way. */
  private readonly workspaces = new Map<string, Holdings>();
  private readonly proven = new RoundRobin<OwnedEndpoint>();
  /** Unproven, and without an attempt under way. */
  private readonly untried = new RoundRobin<OwnedEndpoint>();
  private readonly unproven = new RoundRobin<OwnedEndpoint>();
  private provenFirst = true;

  /** @param most attempts at once */
  constructor(private readonly most: number) {}

  get inFlight(): number {
    return this.total.attempts;
  }

  add(owned: OwnedEndpoint): void {
    const unproven = owned.attempting === 0 ? this.untried : this.unproven;
    const its = owned.concurrency?.proven ? this.proven : unproven;
    for (const queue of [this.proven, this.untried, this.unproven]) {
      if (queue === its) queue.add(owned.workspace, owned);
      else queue.remove(owned.workspace, owned);
    }
  }

  remove(owned: OwnedEndpoint): void {
    for (const queue of [this.proven, this.untried, this.unproven]) queue.remove(owned.workspace, owned);
  }

  /** The endpoint whose turn it is, if an attempt may be made. It leaves the queue. */
  next(): OwnedEndpoint | undefined {
    if (this.inFlight >= this.most) return undefined;
    this.provenFirst = !this.provenFirst;
    if (this.provenFirst) return this.nextProven() ?? this.nextUnproven();
    return this.nextUnproven() ?? this.nextProven();
  }

  /** Counts an attempt. What it answers ends it, once, and says whether it was still counted. */
  begin(owned: OwnedEndpoint): () => boolean {
    const { workspace } = owned;
    const unproven = owned.concurrency?.proven ? 0 : 1;
    const holdings = this.workspaces.get(workspace) ?? { ...NOTHING };
    this.workspaces.set(workspace, holdings);
    const count = (attempts: 1 | -1) => {
      for (const each of [this.total, holdings]) {
        each.attempts += attempts;
        each.unproven += attempts * unproven;
      }
      if (holdings.attempts === 0) this.workspaces.delete(workspace);
    };
    let counted = true;
    count(1);
    return () => {
      if (!counted) return false;
      counted = false;
      count(-1);
      return true;
    };
  }

  private get free(): number {
    return this.most - this.inFlight;
  }

  private nextProven(): OwnedEndpoint | undefined {
    return this.nextOf(this.proven);
  }

  private nextUnproven(): OwnedEndpoint | undefined {
    return this.nextOf(this.untried, SHARE) ?? this.nextOf(this.unproven, SMALL_SHARE);
  }

  /** @param unproven share of the unproven, where it is one of them */
  private nextOf(queue: RoundRobin<OwnedEndpoint>, unproven?: number): OwnedEndpoint | undefined {
    const fits = (held: Holdings, free: number, all: number) =>
      unproven === undefined || held.unproven <= shareOf(free - 1, all, unproven);
    if (!fits(this.total, this.free, this.most)) return undefined;
    const roomPerEndpoint = (workspace: string) => {
      const held = this.workspaces.get(workspace) ?? NOTHING;
      const room = this.roomFor(held);
      const all = held.attempts + room;
      return room > 0 && fits(held, room, all) ? Math.floor(shareOf(room - 1, all, SHARE)) + 1 : 0;
    };
    return queue.next(roomPerEndpoint, ({ attempting }) => attempting);
  }

  /** How many attempts a workspace may still begin while nobody else begins any. */
  private roomFor({ attempts }: Holdings): number {
    // The last of them begins beside attempts + room - 1 and leaves free - room, which is at least the root of
    // attempts + free - left - 1 = share of left.
    const part = SHARE / this.most;
    const left = (Math.sqrt(1 + 4 * part * (attempts + this.free - 1)) - 1) / (2 * part);
    return Math.floor(this.free - left);
  }
}
