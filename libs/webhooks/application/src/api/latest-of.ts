import type { Timestamp } from '@tracking/contracts';

/** The last of these times. */
export function latestOf(...times: readonly Timestamp[]): Timestamp {
  return times.reduce((latest, time) => (time > latest ? time : latest), '');
}
