import type { Timestamp } from '@tracking/contracts';
import type { CollectionSpec, Document } from '@tracking/ports';

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
