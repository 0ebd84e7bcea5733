import { BusyError } from '@tracking/ports';

export const PASSWORD_QUEUE_ENGINE_NAME = 'passwords';

/** The client that a password is hashed for, which has a share of the queue. */
export interface ClientInPasswordQueue {
  /** Names of the networks, or of the user, whose share the client takes, widest first. None for operators. */
  readonly shares: readonly string[];
  /** True if the client signed in before or has other credentials. Only such clients get reserved places. */
  readonly isKnown: boolean;
}

/** A place in the queue, in which a client has its hashes computed one after another. */
export interface PasswordQueuePlace {
  readonly client: ClientInPasswordQueue;
  /** The clients that take turns with others as one: those with the same first share. */
  readonly group: PasswordQueuePlaceGroup;
}

/** The places of clients with a share in common. */
interface PasswordQueuePlaceGroup {
  places: number;
  /** Round in which the latest hash of the group is computed. */
  round: number;
}

interface HashJob {
  readonly round: number;
  readonly isKnown: boolean;
  readonly run: () => Promise<unknown>;
}

/**
 * Queue of password hashes, which are computed one after another. Neither one network nor all strangers together can
 * fill it. Groups of clients take turns: in each round, one hash of each group is computed. A network with many clients
 * therefore delays its own requests, not those of others.
 */
export class PasswordQueue {
  readonly #maxPlaces: number;
  readonly #maxStrangers: number;
  /** Maximum number of places of one share, by its position among the shares of a client. */
  readonly #maxOfShare: readonly number[];
  readonly #groups = new Map<string, PasswordQueuePlaceGroup>();
  #places = 0;
  #strangers = 0;
  #jobs: readonly HashJob[] = [];
  #round = 0;
  #isComputing = false;

  constructor(maxPlaces: number) {
    this.#maxPlaces = maxPlaces;
    this.#maxStrangers = maxPlaces - Math.floor(maxPlaces / 5);
    this.#maxOfShare = [Math.ceil(maxPlaces / 5), Math.ceil(maxPlaces / 10)];
  }

  /** Takes a place until {@link leavePasswordQueue}. Costs nothing if it is refused. @throws BusyError */
  takePasswordQueuePlace(client: ClientInPasswordQueue): PasswordQueuePlace {
    const { shares, isKnown } = client;
    const isFull = this.#places >= this.#maxPlaces || (!isKnown && this.#strangers >= this.#maxStrangers);
    const isShareFull = shares.some((share, n) => (this.#groups.get(share)?.places ?? 0) >= (this.#maxOfShare[n] ?? 0));
    if (isFull || isShareFull)
      throw new BusyError(PASSWORD_QUEUE_ENGINE_NAME, `${this.#places} passwords are waiting to be hashed`);
    this.#changeQueuedClientCounts(isKnown, 1);
    const groups = shares.map((share) => {
      const group = this.#groups.get(share) ?? { places: 0, round: -1 };
      group.places += 1;
      this.#groups.set(share, group);
      return group;
    });
    return { client, group: groups[0] ?? { places: 1, round: -1 } };
  }

  /** Gives up a place. Call it once. */
  leavePasswordQueue({ client: { shares, isKnown } }: PasswordQueuePlace): void {
    this.#changeQueuedClientCounts(isKnown, -1);
    for (const share of shares) {
      const group = this.#groups.get(share);
      if (group && (group.places -= 1) === 0) this.#groups.delete(share);
    }
  }

  /** Computes a hash when it is the turn of the place. */
  computeHashInTurn<T>({ client: { isKnown }, group }: PasswordQueuePlace, work: () => Promise<T>): Promise<T> {
    // Strangers wait for the next round, because a round that accepts new networks might never end.
    const earliest = isKnown ? this.#round : this.#round + 1;
    group.round = Math.max(earliest, group.round + 1);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const run = () => Promise.resolve().then(work).then(resolve, reject);
    this.#jobs = [...this.#jobs, { round: group.round, isKnown, run }];
    void this.#computeQueuedHashes();
    return promise;
  }

  #changeQueuedClientCounts(isKnown: boolean, places: 1 | -1): void {
    this.#places += places;
    if (!isKnown) this.#strangers += places;
  }

  async #computeQueuedHashes(): Promise<void> {
    if (this.#isComputing) return;
    this.#isComputing = true;
    for (let next = this.#takeNextHashJob(); next; next = this.#takeNextHashJob()) await next.run();
    this.#isComputing = false;
  }

  /** Takes the next job: of the earliest round, known clients first. */
  #takeNextHashJob(): HashJob | undefined {
    const [first, ...others] = this.#jobs;
    if (!first) return undefined;
    const isBefore = (one: HashJob, other: HashJob) =>
      one.round < other.round || (one.round === other.round && one.isKnown && !other.isKnown);
    const next = others.reduce((found, each) => (isBefore(each, found) ? each : found), first);
    this.#jobs = this.#jobs.filter((each) => each !== next);
    this.#round = next.round;
    return next;
  }
}
