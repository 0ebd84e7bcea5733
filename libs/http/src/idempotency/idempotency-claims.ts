import { createHmac, createSecretKey, type KeyObject, randomUUID } from 'node:crypto';
import type { Timestamp } from '@tracking/contracts';
import {
  type Clock,
  type Collection,
  type CollectionSpec,
  type Document,
  type DocumentStore,
  type Leases,
  type Logger,
  type Metrics,
  retryCounter,
} from '@tracking/ports';
import { LeaderElectedJob, pause } from '@tracking/resilience';
import { derivedKey } from '@tracking/runtime';
import { type AnswerBox, openAnswer, sealAnswer, type StoredAnswer } from './stored-answer.ts';

export interface IdempotencyOptions {
  readonly documentStore: DocumentStore;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Hashes keys and seals answers; the same on every replica. At least 32 bytes. */
  readonly secret: Uint8Array;
  /** Makes the encryption of stored answers from a key of 32 bytes. */
  readonly answerBox: (key: Uint8Array) => AnswerBox;
  /**
   * How long a claim of another process counts as under way, in milliseconds; 0 where no other can be alive. Taken over
   * too early, its command is carried out twice, which changes nothing.
   */
  readonly takeOverAfterMs: number;
}

/** Characters of a sealed answer, all ASCII: documents have at most 16 MB. */
const MAX_SEALED = 12 * 1024 * 1024;

/** A request under an `Idempotency-Key`. */
export interface ClaimedRequest {
  /** Whose key it is: those of different scopes never meet. */
  readonly scope: readonly string[];
  readonly key: string;
  /** What a repeat has in common with it: method, path with query, body. */
  readonly content: string;
}

/** What a request under a key may do. */
type Taking =
  /** Carry out the command of the claim. */
  | { readonly kind: 'taken'; readonly claim: IdempotencyClaim }
  | { readonly kind: 'answered'; readonly answer: StoredAnswer }
  /** The key was sent with another request. */
  | { readonly kind: 'reused' }
  | { readonly kind: 'in_progress' };
const IN_PROGRESS: Taking = { kind: 'in_progress' };

/** Which requests were made under an `Idempotency-Key`, with their commands and answers. */
export class IdempotencyClaims {
  private readonly process = randomUUID();
  /** Attempts of this process that have not ended. */
  private readonly underWay = new Set<string>();
  private readonly hashKey: KeyObject;
  private readonly box: AnswerBox;

  private constructor(
    /**
     * A power cut that leaves what a command wrote leaves its claim: the claim was written before it. So it needs no
     * flush of its own where one log holds both.
     */
    private readonly claims: Collection<IdempotencyClaim>,
    /** The same documents; once an answer is sent, it is the one that every repeat gets. */
    private readonly answers: Collection<IdempotencyClaim>,
    private readonly sweeper: LeaderElectedJob,
    private readonly options: IdempotencyOptions,
  ) {
    this.hashKey = createSecretKey(derivedKey(options.secret, 'hashes'));
    this.box = options.answerBox(derivedKey(options.secret, 'answers'));
  }

  /** @throws Unavailable */
  static async open(options: IdempotencyOptions): Promise<IdempotencyClaims> {
    const { documentStore } = options;
    const claims = await documentStore.collection<IdempotencyClaim>({ ...CLAIMS, durability: 'ordered' });
    const answers = await documentStore.collection<IdempotencyClaim>(CLAIMS);
    const sweeper = sweeping(claims, options);
    sweeper.start();
    return new IdempotencyClaims(claims, answers, sweeper, options);
  }

  /** When no request is under way any more; before the document store is closed. */
  close(): Promise<void> {
    return this.sweeper.stop();
  }

  /**
   * Keeps the request's claim before anything runs, or finds what became of the one that is there. A claim that is taken
   * must end by {@link keep}, {@link release} or {@link forget}.
   * @throws Unavailable; nothing was begun
   */
  async take(request: ClaimedRequest): Promise<Taking> {
    const fresh = this.newClaim(request);
    // Before it can be found by another request of this process.
    this.underWay.add(fresh.attempt);
    let taking = IN_PROGRESS;
    try {
      taking = (await this.claims.insert(fresh)) ? { kind: 'taken', claim: fresh } : await this.takeOver(fresh);
    } finally {
      if (taking.kind !== 'taken') this.underWay.delete(fresh.attempt);
    }
    return taking;
  }

  /**
   * Stores the answer of the claim, before it is sent; one that no engine could store is not kept: the next repeat carries
   * out the same command again, which changes nothing. Answers the one to send: another attempt's, where that one was
   * faster; undefined while it is still at it.
   * @throws Unavailable
   */
  async keep(claim: IdempotencyClaim, answer: StoredAnswer): Promise<StoredAnswer | undefined> {
    return this.end(claim, async () => {
      const sealed = await sealAnswer(this.box, claim.id, answer);
      if (sealed.length > MAX_SEALED) {
        await this.claims.replace({ ...claim, state: 'released' }, guardOf(claim));
        return answer;
      }
      const answered = { ...claim, state: 'answered', answer: sealed } as const;
      if (await this.answers.replace(answered, guardOf(claim))) return answer;
      const found = await this.answers.get(claim.id);
      return found && (await this.answerOf(found));
    });
  }

  /**
   * It failed on our side: the next repeat carries out the same command again.
   * @param isUndone whether nothing was done by this attempt
   * @throws Unavailable
   */
  release(claim: IdempotencyClaim, isUndone = false): Promise<void> {
    const is_undone = isUndone && !claim.is_repeat;
    return this.end(claim, async () => {
      await this.claims.replace({ ...claim, state: 'released', is_undone }, guardOf(claim));
    });
  }

  /**
   * The request was refused as it is: under its key a better one may come. Of a repeat that is refused, as by a limit,
   * the command may have been carried out before: it stays the same one.
   * @throws Unavailable
   */
  forget(claim: IdempotencyClaim): Promise<void> {
    if (claim.is_repeat) return this.release(claim);
    return this.end(claim, async () => {
      await this.claims.delete(claim.id, guardOf(claim));
    });
  }

  /** Of those that find the same claim one gets it. */
  private async takeOver(fresh: IdempotencyClaim): Promise<Taking> {
    const found = await this.claims.get(fresh.id);
    // Forgotten just now.
    if (found === undefined) return IN_PROGRESS;
    const isOver = found.expires_at <= fresh.at;
    if (!isOver) {
      if (found.fingerprint !== fresh.fingerprint) return { kind: 'reused' };
      const answer = await this.answerOf(found);
      if (answer !== undefined) return { kind: 'answered', answer };
      if (this.isUnderWay(found)) return IN_PROGRESS;
    }
    const claim = isOver ? fresh : retaken(found, fresh);
    return (await this.claims.replace(claim, guardOf(found))) ? { kind: 'taken', claim } : IN_PROGRESS;
  }

  /** What dies with its process, as by kill -9, tells nobody. */
  private isUnderWay({ state, process, attempt, taken_at }: IdempotencyClaim): boolean {
    if (state !== 'open') return false;
    if (process === this.process) return this.underWay.has(attempt);
    // Of a clock that is far ahead of ours nothing can be told.
    return Math.abs(this.options.clock().getTime() - Date.parse(taken_at)) < this.options.takeOverAfterMs;
  }

  private async answerOf({ id, answer }: IdempotencyClaim): Promise<StoredAnswer | undefined> {
    return answer === undefined ? undefined : openAnswer(this.box, id, answer);
  }

  private async end<T>({ attempt }: IdempotencyClaim, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } finally {
      this.underWay.delete(attempt);
    }
  }

  private newClaim({ scope, key, content }: ClaimedRequest): IdempotencyClaim {
    const now = this.options.clock();
    const at = now.toISOString();
    return {
      id: this.hash(JSON.stringify([...scope, key])),
      fingerprint: this.hash(content),
      command_id: randomUUID(),
      at,
      expires_at: new Date(now.getTime() + KEPT_MS).toISOString(),
      state: 'open',
      process: this.process,
      attempt: randomUUID(),
      taken_at: at,
      is_repeat: false,
    };
  }

  private hash(text: string): string {
    return createHmac('sha256', this.hashKey).update(text).digest('hex');
  }
}

/**
 * Where nothing was done, the command is as new but for its id. Else it may have been, and is carried out as of the time that
 * it had: what it wrote then must be what it writes now.
 */
function retaken(found: IdempotencyClaim, { at, process, attempt, taken_at }: IdempotencyClaim): IdempotencyClaim {
  const { is_undone = false, ...claim } = found;
  const own = { state: 'open', process, attempt, taken_at } as const;
  return is_undone ? { ...claim, ...own, at } : { ...claim, ...own, is_repeat: true };
}

/** Holds for the claim as it was read, whoever may have changed it since. */
function guardOf({ attempt, state }: IdempotencyClaim) {
  return { attempt, state };
}

/** How long an `Idempotency-Key` is remembered: docs/reference/http.md#safe-retries. */
export const KEPT_MS = 24 * 60 * 60 * 1_000;

/** What an `Idempotency-Key` stands for: one command, who carries it out, and its answer. Nothing in it can be read back. */
export interface IdempotencyClaim extends Document {
  /** Keyed hash of whose key it is and of the key itself. */
  readonly id: string;
  /** Keyed hash of the request: a plain one would tell a guessed password of a sign-in. */
  readonly fingerprint: string;
  /** Identity of the command, kept before anything runs: however often it is carried out, it is the same one. */
  readonly command_id: string;
  readonly at: Timestamp;
  readonly expires_at: Timestamp;
  /** `open`: somebody is at it, or died; `released`: it failed on our side, and the next repeat tries again. */
  readonly state: 'open' | 'released' | 'answered';
  /** Which process took it last, and in which attempt of its own: every write is guarded by the attempt. */
  readonly process: string;
  readonly attempt: string;
  readonly taken_at: Timestamp;
  /** Whether another attempt had it before, which may have carried the command out. */
  readonly is_repeat: boolean;
  /** Of a `released` one: nothing was done, so that a repeat is carried out at the time of its own. */
  readonly is_undone?: boolean;
  /** The sealed answer, where there is one. */
  readonly answer?: string;
}

export const CLAIMS: CollectionSpec = {
  name: 'idempotency_claims',
  indexes: [{ name: 'expiry', fields: ['expires_at'] }],
};

const EVERY_MS = 10 * 60 * 1_000;
const AT_ONCE = 200;
/** For each millisecond of work it rests so many. */
const REST = 4;

interface SweepingParts {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Deletes claims that are over: until it comes to them, they count as absent. */
export function sweeping(
  claims: Collection<IdempotencyClaim>,
  { leases, clock, logger, metrics }: SweepingParts,
): LeaderElectedJob {
  return new LeaderElectedJob({
    leases,
    lease: 'idempotency-sweeper',
    logger,
    countRetry: retryCounter(metrics),
    what: 'deleting old idempotency keys',
    everyMs: EVERY_MS,
    round: (ending) => sweep(claims, clock().toISOString(), ending),
  });
}

async function sweep(claims: Collection<IdempotencyClaim>, now: string, ending: AbortSignal): Promise<void> {
  while (!ending.aborted) {
    const began = performance.now();
    const filter = { expires_at: { lte: now } };
    const old = await claims.find({ filter, sort: { fields: ['expires_at'] }, limit: AT_ONCE });
    if (old.length === 0) return;
    // Not those that were taken anew meanwhile.
    await claims.writeMany(old.map(({ id, attempt }) => ({ kind: 'delete', id, guard: { attempt } })));
    await pause(REST * (performance.now() - began), ending);
  }
}
