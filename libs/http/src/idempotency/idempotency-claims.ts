import { createHmac, createSecretKey, type KeyObject, randomUUID } from 'node:crypto';
import type { Permission, Timestamp } from '@tracking/contracts';
import {
  type Clock,
  type Collection,
  type CollectionSpec,
  type Document,
  type DocumentStore,
  type LeaseSource,
  type Logger,
  type Metrics,
  createRetryCounter,
} from '@tracking/ports';
import { LeaderElectedJob, pauseFor } from '@tracking/resilience';
import { deriveKey } from '@tracking/runtime';
import { type ResponseCipher, decryptSealedResponse, encryptResponse, type StoredResponse } from './stored-response.ts';

export interface IdempotencyOptions {
  readonly documentStore: DocumentStore;
  readonly leases: LeaseSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Secret from which the keys for hashing and encryption derive; the same on every replica. At least 32 bytes. */
  readonly secret: Uint8Array;
  /** Creates the encryption of stored responses from a key of 32 bytes. */
  readonly responseCipher: (key: Uint8Array) => ResponseCipher;
  /**
   * Time for which a claim of another process counts as in progress, in milliseconds; 0 if no other process can be
   * alive. If a claim is taken over too early, its command runs twice; the second run changes nothing.
   */
  readonly takeOverAfterMs: number;
}

/** Maximum length of an encrypted response in ASCII characters. A stored document has at most 16 MB. */
const MAX_SEALED_RESPONSE_CHARS = 12 * 1024 * 1024;

/** A request with an `Idempotency-Key`. */
export interface ClaimedRequest {
  /** Owner of the key. Equal keys of different owners are independent. */
  readonly scope: readonly string[];
  readonly key: string;
  /** Method, path with query, and body. A repeated request must have the same content. */
  readonly content: string;
  /** Permissions that the caller has now. */
  readonly permissions: readonly Permission[];
}

/** The result of taking a claim. */
type TakeResult =
  /** The claim was taken: the request must run the claim's command. */
  | { readonly kind: 'taken'; readonly claim: IdempotencyClaim }
  | { readonly kind: 'answered'; readonly answer: StoredResponse }
  /** The key was sent with another request. */
  | { readonly kind: 'reused' }
  | { readonly kind: 'in_progress' };
const CLAIM_IN_PROGRESS: TakeResult = { kind: 'in_progress' };

/** Stores requests with an `Idempotency-Key`, their commands and their responses. */
export class IdempotencyClaims {
  private readonly process = randomUUID();
  /** Ids of running attempts of this process. */
  private readonly attemptsInProgress = new Set<string>();
  private readonly hmacKey: KeyObject;
  private readonly cipher: ResponseCipher;

  private constructor(
    /**
     * Collection for writes before a command runs. If a power cut preserves the writes of the command, it preserves the
     * claim, so the claim needs no flush of its own if one log holds both.
     */
    private readonly claims: Collection<IdempotencyClaim>,
    /** Collection of claims with durable writes. After a response is sent, every repeat must get the same response. */
    private readonly durableClaims: Collection<IdempotencyClaim>,
    private readonly sweeper: LeaderElectedJob,
    private readonly options: IdempotencyOptions,
  ) {
    this.hmacKey = createSecretKey(deriveKey(options.secret, 'hashes'));
    this.cipher = options.responseCipher(deriveKey(options.secret, 'answers'));
  }

  /** @throws UnavailableError */
  static async openIdempotencyClaims(options: IdempotencyOptions): Promise<IdempotencyClaims> {
    const { documentStore } = options;
    const spec = IDEMPOTENCY_CLAIMS_COLLECTION_SPEC;
    const claims = await documentStore.collection<IdempotencyClaim>({ ...spec, durability: 'ordered' });
    const answers = await documentStore.collection<IdempotencyClaim>(spec);
    const sweeper = createIdempotencyClaimSweeper(claims, options);
    sweeper.startJobRounds();
    return new IdempotencyClaims(claims, answers, sweeper, options);
  }

  /** Stops the sweeper. Call this method when no request is in progress, before closing the document store. */
  stopClaimSweeper(): Promise<void> {
    return this.sweeper.stopJobRounds();
  }

  /**
   * Stores the claim of a request before its command runs, or reads the existing one. End a claim that is taken with
   * {@link storeResponseOfClaim}, {@link releaseIdempotencyClaim} or {@link deleteIdempotencyClaim}.
   * @throws UnavailableError; the command was not begun
   */
  async claimIdempotencyKey(request: ClaimedRequest): Promise<TakeResult> {
    const fresh = this.createIdempotencyClaim(request);
    // Add the attempt before storing the claim, so that other requests see the claim as in progress.
    this.attemptsInProgress.add(fresh.attempt);
    let taking = CLAIM_IN_PROGRESS;
    try {
      taking = (await this.claims.insert(fresh))
        ? { kind: 'taken', claim: fresh }
        : await this.takeOverIdempotencyClaim(fresh);
    } finally {
      if (taking.kind !== 'taken') this.attemptsInProgress.delete(fresh.attempt);
    }
    return taking;
  }

  /**
   * Stores the response of the claim before it is sent. A response that is too large is not stored: the next repeat
   * runs the command again, which changes nothing.
   * @returns the response to send. If another attempt took over the claim, returns its response, or undefined while it
   *   is in progress
   * @throws UnavailableError
   */
  async storeResponseOfClaim(claim: IdempotencyClaim, answer: StoredResponse): Promise<StoredResponse | undefined> {
    return this.runWriteAndForgetAttempt(claim, async () => {
      const sealed = await encryptResponse(this.cipher, claim.id, answer);
      if (sealed.length > MAX_SEALED_RESPONSE_CHARS) {
        await this.claims.replace({ ...claim, state: 'released' }, createUnchangedClaimGuard(claim));
        return answer;
      }
      const answered = { ...claim, state: 'answered', answer: sealed } as const;
      if (await this.durableClaims.replace(answered, createUnchangedClaimGuard(claim))) return answer;
      const found = await this.durableClaims.get(claim.id);
      return found && (await this.decryptStoredResponse(found));
    });
  }

  /**
   * Releases the claim of a request that failed on the server: the next repeat runs the same command again.
   * @param isUndone true if this attempt certainly changed nothing
   * @throws UnavailableError
   */
  releaseIdempotencyClaim(claim: IdempotencyClaim, isUndone = false): Promise<void> {
    const is_undone = isUndone && !claim.is_repeat;
    return this.runWriteAndForgetAttempt(claim, async () => {
      await this.claims.replace({ ...claim, state: 'released', is_undone }, createUnchangedClaimGuard(claim));
    });
  }

  /**
   * Deletes the claim of a request that was refused, so that a corrected request can use the key. The claim of a repeat
   * is released instead, because an earlier attempt may have run the command.
   * @throws UnavailableError
   */
  deleteIdempotencyClaim(claim: IdempotencyClaim): Promise<void> {
    if (claim.is_repeat) return this.releaseIdempotencyClaim(claim);
    return this.runWriteAndForgetAttempt(claim, async () => {
      await this.claims.delete(claim.id, createUnchangedClaimGuard(claim));
    });
  }

  /** Takes over an existing claim. If several requests try this concurrently, exactly one succeeds. */
  private async takeOverIdempotencyClaim(fresh: IdempotencyClaim): Promise<TakeResult> {
    const found = await this.claims.get(fresh.id);
    // Report the claim as in progress, because another request has just deleted the stored claim.
    if (found === undefined) return CLAIM_IN_PROGRESS;
    const isOver = found.expires_at <= fresh.at;
    if (!isOver) {
      if (found.fingerprint !== fresh.fingerprint) return { kind: 'reused' };
      const answer = await this.decryptStoredResponse(found);
      if (answer !== undefined && mayReceiveStoredResponse(found, answer, fresh)) return { kind: 'answered', answer };
      if (this.isRequestAttemptInProgress(found)) return CLAIM_IN_PROGRESS;
    }
    const claim = isOver ? fresh : createIdempotencyClaimForRetry(found, fresh);
    const isTaken = await this.claims.replace(claim, createUnchangedClaimGuard(found));
    return isTaken ? { kind: 'taken', claim } : CLAIM_IN_PROGRESS;
  }

  /** Returns true if the attempt may still run. A process that was killed leaves its claims open. */
  private isRequestAttemptInProgress({ state, process, attempt, taken_at }: IdempotencyClaim): boolean {
    if (state !== 'open') return false;
    if (process === this.process) return this.attemptsInProgress.has(attempt);
    // Treat a time far in the future as long ago, because it comes from a wrong clock.
    return Math.abs(this.options.clock().getTime() - Date.parse(taken_at)) < this.options.takeOverAfterMs;
  }

  private async decryptStoredResponse({ id, answer }: IdempotencyClaim): Promise<StoredResponse | undefined> {
    return answer === undefined ? undefined : decryptSealedResponse(this.cipher, id, answer);
  }

  private async runWriteAndForgetAttempt<T>({ attempt }: IdempotencyClaim, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } finally {
      this.attemptsInProgress.delete(attempt);
    }
  }

  private createIdempotencyClaim({ scope, key, content, permissions }: ClaimedRequest): IdempotencyClaim {
    const now = this.options.clock();
    const at = now.toISOString();
    return {
      id: this.computeContentHmac(JSON.stringify([...scope, key])),
      fingerprint: this.computeContentHmac(content),
      command_id: randomUUID(),
      at,
      expires_at: new Date(now.getTime() + IDEMPOTENCY_RETENTION_MS).toISOString(),
      state: 'open',
      process: this.process,
      attempt: randomUUID(),
      taken_at: at,
      is_repeat: false,
      permissions,
    };
  }

  private computeContentHmac(text: string): string {
    return createHmac('sha256', this.hmacKey).update(text).digest('hex');
  }
}

/**
 * Returns true if the stored response may be returned to the caller as it is. Returns false if the caller has lost a
 * permission, or if the response sets a cookie, which earlier versions stored. The command then runs again: it checks
 * the caller's current rights and changes nothing.
 */
function mayReceiveStoredResponse(found: IdempotencyClaim, answer: StoredResponse, { permissions }: IdempotencyClaim) {
  const lost = found.permissions?.some((permission) => !permissions?.includes(permission)) ?? false;
  return !lost && answer.headers['set-cookie'] === undefined;
}

/**
 * Returns the claim for another attempt. The new claim keeps the command id. If the earlier attempt may have changed
 * data, the new claim also keeps the time, so that the command repeats the same writes.
 */
function createIdempotencyClaimForRetry(found: IdempotencyClaim, fresh: IdempotencyClaim): IdempotencyClaim {
  const { is_undone = false, answer: _, ...claim } = found;
  const { at, process, attempt, taken_at, permissions } = fresh;
  const own = { state: 'open', process, attempt, taken_at, permissions } as const;
  return is_undone ? { ...claim, ...own, at } : { ...claim, ...own, is_repeat: true };
}

/** Guard that matches the claim only if it has not changed since it was read. */
function createUnchangedClaimGuard({ attempt, state }: IdempotencyClaim) {
  return { attempt, state };
}

/** Time for which an `Idempotency-Key` is remembered: docs/reference/http.md#safe-retries. */
export const IDEMPOTENCY_RETENTION_MS = 24 * 60 * 60 * 1_000;

/** A stored `Idempotency-Key` with its command, attempt and response. The request's content cannot be read from it. */
export interface IdempotencyClaim extends Document {
  /** Keyed hash of the idempotency key and its owner. */
  readonly id: string;
  /** Keyed hash of the request. With a plain hash, an attacker could guess passwords of sign-ins. */
  readonly fingerprint: string;
  /** Id of the command, the same for every attempt. */
  readonly command_id: string;
  readonly at: Timestamp;
  readonly expires_at: Timestamp;
  /** `open`: in progress, or the process died; `released`: failed on the server, so the next repeat tries again. */
  readonly state: 'open' | 'released' | 'answered';
  /** Ids of the latest attempt and of its process. Every write to the claim requires an unchanged attempt id. */
  readonly process: string;
  readonly attempt: string;
  readonly taken_at: Timestamp;
  /** True if an earlier attempt may have run the command. */
  readonly is_repeat: boolean;
  /** True if a `released` claim changed nothing, so that a repeat runs at its own time. */
  readonly is_undone?: boolean;
  /** Permissions of the caller at the latest attempt; absent on claims of earlier versions. */
  readonly permissions?: readonly Permission[] | undefined;
  /** The encrypted response. Absent until a response is stored. */
  readonly answer?: string;
}

export const IDEMPOTENCY_CLAIMS_COLLECTION_SPEC: CollectionSpec = {
  name: 'idempotency_claims',
  indexes: [{ name: 'expiry', fields: ['expires_at'] }],
  shardKey: [],
};

const SWEEP_INTERVAL_MS = 10 * 60 * 1_000;
const EXPIRED_CLAIMS_PER_DELETION = 200;
/** Milliseconds of rest for each millisecond of deletion. */
const REST_TIME_PER_DELETION_TIME = 4;

interface IdempotencyClaimSweeperDependencies {
  readonly leases: LeaseSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Creates the job that deletes expired claims. An expired claim counts as absent until then. */
export function createIdempotencyClaimSweeper(
  claims: Collection<IdempotencyClaim>,
  { leases, clock, logger, metrics }: IdempotencyClaimSweeperDependencies,
): LeaderElectedJob {
  return new LeaderElectedJob({
    leases,
    lease: 'idempotency-sweeper',
    logger,
    countRetry: createRetryCounter(metrics),
    description: 'deleting old idempotency keys',
    intervalMs: SWEEP_INTERVAL_MS,
    runJobRound: (ending) => deleteExpiredClaims(claims, clock().toISOString(), ending),
  });
}

async function deleteExpiredClaims(
  claims: Collection<IdempotencyClaim>,
  now: string,
  ending: AbortSignal,
): Promise<void> {
  while (!ending.aborted) {
    const began = performance.now();
    const filter = { expires_at: { lte: now } };
    const old = await claims.find({ filter, sort: { fields: ['expires_at'] }, limit: EXPIRED_CLAIMS_PER_DELETION });
    if (old.length === 0) return;
    // Keep claims that were taken again after the read.
    await claims.writeMany(old.map(({ id, attempt }) => ({ kind: 'delete', id, guard: { attempt } })));
    await pauseFor(REST_TIME_PER_DELETION_TIME * (performance.now() - began), ending);
  }
}
