import type {
  AutomaticExceptionType,
  Container,
  ExceptionSettings,
  Places,
  ResolvedBy,
  RuleSettings,
  Severity,
  ShipmentException,
  ShipmentRecord,
  Timestamp,
} from '@tracking/contracts';
import type { Derived, StatusSubject } from '../derive.ts';
import type { DocumentInHand, TimelineEntry } from '../state.ts';

/** What rules go by. */
export interface RuleFacts {
  readonly derived: Derived;
  readonly timeline: readonly TimelineEntry[];
  /** When a milestone or an estimated arrival was last heard of; null if never. */
  readonly heardAt: Timestamp | null;
  /** All there ever were. */
  readonly documents: readonly DocumentInHand[];
  /** Types that the workspace asks for, by mode. */
  readonly requiredDocuments: RuleSettings['required_documents'];
  readonly places: Places;
}

/** Something that is wrong now, or will be. */
export interface Finding {
  readonly container_number: string | null;
  /** What showed it. */
  readonly milestone: TimelineEntry | null;
  readonly detail: string;
  /** From when on; absent where it is so already. */
  readonly opens_at?: Timestamp;
  /** The time or day it is about, where it opens some hours before that. */
  readonly due_at?: Timestamp;
  /** At least so grave, whatever the workspace set. */
  readonly severity?: Severity;
  /** From when on at least so grave. */
  readonly worsens?: { readonly at: Timestamp; readonly severity: Severity };
  /** What was measured. */
  readonly metrics?: ShipmentException['metrics'];
  /** Whether it is another thing than what was measured when a person resolved it, although it never ended. */
  readonly isGraverThan?: (resolved: ShipmentException['metrics']) => boolean;
  /** What would resolve it, beside what resolves any. Asked only by who explains. */
  readonly resolvedBy: () => readonly ResolvedBy[];
}

/** An exception that opens while its condition holds and resolves when it no longer does. */
export interface Rule {
  readonly type: AutomaticExceptionType;
  /** Whether it is about what happens to a cancelled shipment; all others rest then. */
  readonly afterCancel?: true;
  /** At most one per container (or for the shipment). */
  readonly find: (facts: RuleFacts, settings: ExceptionSettings) => readonly Finding[];
}

/** What a rule looks for. */
export type Find = Rule['find'];

/** A rule for containers runs for each; without any, once. */
type SubjectRule = (
  subject: StatusSubject & { readonly container: Container | undefined },
  facts: RuleFacts,
  settings: ExceptionSettings,
) => Omit<Finding, 'container_number'> | undefined;

export function forEachSubject(rule: SubjectRule): Find {
  return (facts, settings) =>
    facts.derived.subjects.flatMap((subject, index) => {
      const container = facts.derived.record.containers[index];
      const finding = rule({ ...subject, container }, facts, settings);
      return finding === undefined ? [] : [{ container_number: subject.container_number, ...finding }];
    });
}

const LEFT_ALONE_HOURS = 30 * 24;

/** Whatever was due before this time does not open: importing old shipments raises no storm. */
export function oldestDue({ created_at }: Pick<ShipmentRecord, 'created_at'>): Timestamp {
  return hoursAfter(created_at, -LEFT_ALONE_HOURS);
}

/** After so many hours a rule opens for shipments of a mode. */
export function hoursOf({ by_mode, after_hours }: ExceptionSettings, { mode }: Pick<ShipmentRecord, 'mode'>): number {
  return (mode === null ? undefined : by_mode[mode]) ?? after_hours ?? 0;
}

export const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** @param hours fractions too; less than 0: before it */
export function hoursAfter(time: Timestamp, hours: number): Timestamp {
  return new Date(Date.parse(time) + Math.round(hours * HOUR_MS)).toISOString();
}

/** When a day begins and ends in a time zone; summer time makes days of 23 and 25 hours. */
interface LocalDay {
  readonly from: Timestamp;
  /** Of the day after it. */
  readonly until: Timestamp;
}

/** Asking the platform for the time in a zone is a thousand times dearer than a look-up, and containers share their days. */
const known = new Map<string, LocalDay>();
const MAX_KNOWN = 10_000;
const clocks = new Map<string, Clock>();

/**
 * @param day as `2026-11-21`
 * @param zone its IANA name; UTC where the platform does not know it
 */
export function localDay(day: string, zone: string): LocalDay {
  const key = `${day} ${zone}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const clock = clocks.get(zone) ?? clockOf(zone);
  clocks.set(zone, clock);
  const midnight = Date.parse(`${day}T00:00:00.000Z`);
  const found = { from: beginning(midnight, clock), until: beginning(midnight + DAY_MS, clock) };
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(key, found);
  return found;
}

/** What the clocks of a zone show at an instant, as if it were UTC; in ms. */
type Clock = (instant: number) => number;

function clockOf(zone: string): Clock {
  try {
    const format = new Intl.DateTimeFormat('en', { ...CLOCK_FORMAT, timeZone: zone });
    return (instant) => shownBy(format, instant);
  } catch {
    return (instant) => instant;
  }
}

const CLOCK_FORMAT: Intl.DateTimeFormatOptions = {
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
};

function shownBy(format: Intl.DateTimeFormat, instant: number): number {
  const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
}

/**
 * The first instant of a day: midnight by the offset of the day before or, where clocks were changed before it, by that of
 * the day after it.
 * @param midnight of the day, in UTC
 */
function beginning(midnight: number, clock: Clock): Timestamp {
  const byOffsetAt = (instant: number) => midnight - (clock(instant) - instant);
  const before = byOffsetAt(midnight - DAY_MS);
  const isFirst = clock(before) >= midnight && clock(before - 1) < midnight;
  return new Date(isFirst ? before : byOffsetAt(midnight + DAY_MS)).toISOString();
}
