import type { Timestamp } from '@tracking/contracts';

/** Of an endpoint, at once: each of them signs every request. */
export const MAX_VALID_SECRETS = 5;

/** How long the old one stays valid beside a new one, where nothing is told. */
export const DEFAULT_OVERLAP_SECONDS = 86_400;

/** When a signing secret is valid. */
export interface SecretPeriod {
  readonly created_at: Timestamp;
  /** From then on it signs nothing; null, or absent in what was stored before there were rotations, for the newest. */
  readonly expires_at: Timestamp | null;
}

/** Those that sign at this moment. */
export function validSecrets<S extends SecretPeriod>(secrets: readonly S[], at: Timestamp): readonly S[] {
  return secrets.filter(({ expires_at }) => !expires_at || expires_at > at);
}

/**
 * Puts a fresh secret before those that there are, the newest first. From the end of the overlap on it alone is valid;
 * before that so are the others, each no longer than it was, and of very many the newest.
 */
export function rotated<S extends SecretPeriod>(secrets: readonly S[], fresh: S, overlapEnds: Timestamp): readonly S[] {
  const former = validSecrets(secrets, fresh.created_at).map((secret) => ({
    ...secret,
    expires_at: secret.expires_at && secret.expires_at < overlapEnds ? secret.expires_at : overlapEnds,
  }));
  return [fresh, ...validSecrets(former, fresh.created_at)].slice(0, MAX_VALID_SECRETS);
}
