import type { Timestamp } from '@tracking/contracts';

/** From `from` on, up to but not at `to`; still open while `to` is null. */
export interface Period {
  readonly from: Timestamp;
  readonly to: Timestamp | null;
}

/** Oldest ones beyond this are forgotten, so that an endpoint switched on and off all day does not grow without bound. */
const MAX_PERIODS = 100;

/** The periods with this open one; unchanged when the last is still open. In the order in which they were opened. */
export function opened<P extends Period>(periods: readonly P[], period: P): readonly P[] {
  return isOpen(periods) ? periods : [...periods, period].slice(-MAX_PERIODS);
}

/** The periods with the open one closed; unchanged without one. */
export function closed<P extends Period>(periods: readonly P[], at: Timestamp): readonly P[] {
  const last = periods.at(-1);
  if (last?.to !== null) return periods;
  // A clock set back must not make a period that ends before it begins.
  return periods.with(-1, { ...last, to: at < last.from ? last.from : at });
}

function isOpen(periods: readonly Period[]): boolean {
  return periods.at(-1)?.to === null;
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
