import type { ItemOf } from '@tracking/client';

/** What was expected from a moment on; both in milliseconds. */
export interface EtaPoint {
  readonly reported: number;
  readonly eta: number | null;
}

/**
 * What a line of the ETA goes through, in order, up to now: the last estimate still holds then.
 * @param changes the newest first, as the API lists them
 */
export function etaPoints(changes: readonly ItemOf<'listEtaHistory'>[], now: number): EtaPoint[] {
  const time = (eta: string | null) => (eta === null ? null : Date.parse(eta));
  const points = changes
    .map(({ reported_at, eta }) => ({ reported: Date.parse(reported_at), eta: time(eta) }))
    .reverse();
  const last = points.at(-1);
  return last === undefined || last.reported >= now ? points : [...points, { ...last, reported: now }];
}
