import type { Timestamp } from '@tracking/contracts';
import { type Period, closed, opened } from './periods.ts';

/** A place in the one log of all events: of fixed width, so that places sort as events do. */
export type LogPlace = string;

/** Before every event. */
export const BEGINNING_OF_LOG: LogPlace = '';

/** When something was asked for, and how far the log had come by then: everything acknowledged before is at or before `head`. */
export interface Moment {
  readonly at: Timestamp;
  readonly head: LogPlace;
}

/**
 * From enabling an endpoint to disabling it. Its times are for people, and for what an earlier version left, which noted no
 * places; the places decide, since clocks step and differ.
 */
export interface EnabledPeriod extends Period {
  readonly places?: {
    /** The log's head at enabling: what comes after it is live. */
    readonly after: LogPlace;
    /** The log's head at disabling: what comes after it is not live any more. Null while the period is open. */
    readonly up_to: LogPlace | null;
  };
}

/** With a new open one; unchanged when the last is still open. */
export function begun(periods: readonly EnabledPeriod[], { at, head }: Moment): readonly EnabledPeriod[] {
  return opened(periods, { from: at, to: null, places: { after: head, up_to: null } });
}

/** With the open one closed; unchanged without one. */
export function ended(periods: readonly EnabledPeriod[], { at, head }: Moment): readonly EnabledPeriod[] {
  const last = periods.at(-1);
  if (last?.to !== null) return periods;
  // Where an earlier version noted no place for the beginning, nothing that may be live is left out.
  const places = { after: last.places?.after ?? BEGINNING_OF_LOG, up_to: head };
  return closed(periods.with(-1, { ...last, places }), at);
}

/** What of an event decides whether it is live. */
export interface LoggedEvent {
  readonly created_at: Timestamp;
  /** Where it is in the log; undefined in a message of an earlier version, which did not say. */
  readonly place: LogPlace | undefined;
}

/**
 * Whether an event lies in one of the periods, whenever it is asked. What an earlier version left, a period or a message
 * without places, is judged so that nothing is lost: it matches while the period is open, and by the times, which are all
 * that is known, once it is closed.
 */
export function includes(periods: readonly EnabledPeriod[], { created_at, place }: LoggedEvent): boolean {
  return periods.some(({ from, to, places }) => {
    if (places === undefined || place === undefined) return to === null || (from <= created_at && created_at < to);
    return places.after < place && (places.up_to === null || place <= places.up_to);
  });
}
