import type { Timestamp } from '@tracking/contracts';

/** From `from` on, up to but not at `to`; still open while `to` is null. */
export interface Period {
  readonly from: Timestamp;
  readonly to: Timestamp | null;
}

/** Oldest ones beyond this are forgotten, so that an endpoint switched on and off all day does not grow without bound. */
const MAX_PERIODS = 100;

/** The periods with a new open one; unchanged when the last is still open. In order of time. */
export function opened(periods: readonly Period[], at: Timestamp): readonly Period[] {
  return isOpen(periods) ? periods : [...periods, { from: at, to: null }].slice(-MAX_PERIODS);
}

/** The periods with the open one closed; unchanged without one. */
export function closed(periods: readonly Period[], at: Timestamp): readonly Period[] {
  const last = periods.at(-1);
  if (last?.to !== null) return periods;
  // A clock set back must not make a period that ends before it begins.
  return [...periods.slice(0, -1), { from: last.from, to: at < last.from ? last.from : at }];
}

export function isOpen(periods: readonly Period[]): boolean {
  return periods.at(-1)?.to === null;
}

export function covers(periods: readonly Period[], at: Timestamp): boolean {
  return periods.some(({ from, to }) => from <= at && (to === null || at < to));
}

/**
 * When a duration that begins at `start` ends if it stands still during the pauses; epoch milliseconds, Infinity while a
 * pause that it meets is open.
 */
export function endAfterPauses(start: number, durationMs: number, pauses: readonly Period[]): number {
  let end = start + durationMs;
  for (const { from, to } of pauses) {
    const begins = Math.max(Date.parse(from), start);
    if (begins >= end) break;
    if (to === null) return Infinity;
    end += Math.max(0, Date.parse(to) - begins);
  }
  return end;
}
