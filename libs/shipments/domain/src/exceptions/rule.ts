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
import type { DocumentState, TimelineEntry } from '../state.ts';

/** Inputs of the rules. */
export interface RuleFacts {
  readonly derived: Derived;
  readonly timeline: readonly TimelineEntry[];
  /** When a milestone or an estimated arrival was last received; null if never. */
  readonly lastNewsAt: Timestamp | null;
  /** All documents, including deleted ones. */
  readonly documents: readonly DocumentState[];
  /** Document types that the workspace requires, by mode. */
  readonly requiredDocuments: RuleSettings['required_documents'];
  readonly places: Places;
}

/** A problem that exists now or will exist later. */
export interface Finding {
  readonly container_number: string | null;
  /** The milestone that shows it. */
  readonly milestone: TimelineEntry | null;
  readonly detail: string;
  /** When it begins; absent if it exists already. */
  readonly opens_at?: Timestamp;
  /** The time or day that it concerns, if it opens some hours before that. */
  readonly due_at?: Timestamp;
  /** Minimum severity, regardless of the workspace's settings. */
  readonly severity?: Severity;
  /** Minimum severity from a time on. */
  readonly worsens?: { readonly at: Timestamp; readonly severity: Severity };
  /** Measured values. */
  readonly metrics?: ShipmentException['metrics'];
  /** Reports whether it is worse than the values of an exception that a person resolved, so that a new one opens. */
  readonly isGraverThan?: (resolved: ShipmentException['metrics']) => boolean;
  /** Ways to resolve it, in addition to those of every exception. Only explanations call it. */
  readonly resolvedBy: () => readonly ResolvedBy[];
}

/** An exception that opens while its condition holds and resolves when it no longer does. */
export interface Rule {
  readonly type: AutomaticExceptionType;
  /** Set for rules about cancelled shipments. All other rules are off while a shipment is cancelled. */
  readonly afterCancel?: true;
  /** Returns at most one finding per container, or for the shipment. */
  readonly find: (facts: RuleFacts, settings: ExceptionSettings) => readonly Finding[];
}

export type FindFindings = Rule['find'];

/** A rule that runs for each container, or once for a shipment without containers. */
type SubjectRule = (
  subject: StatusSubject & { readonly container: Container | undefined },
  facts: RuleFacts,
  settings: ExceptionSettings,
) => Omit<Finding, 'container_number'> | undefined;

export function forEachSubject(rule: SubjectRule): FindFindings {
  return (facts, settings) =>
    facts.derived.subjects.flatMap((subject, index) => {
      const container = facts.derived.record.containers[index];
      const finding = rule({ ...subject, container }, facts, settings);
      return finding === undefined ? [] : [{ container_number: subject.container_number, ...finding }];
    });
}

const MAX_DUE_AGE_HOURS = 30 * 24;

/** Findings due before this time open no exception, so that an import of old shipments does not open very many. */
export function oldestDue({ created_at }: Pick<ShipmentRecord, 'created_at'>): Timestamp {
  return hoursAfter(created_at, -MAX_DUE_AGE_HOURS);
}

/** Hours after which a rule opens an exception for a shipment of the mode. */
export function hoursOf({ by_mode, after_hours }: ExceptionSettings, { mode }: Pick<ShipmentRecord, 'mode'>): number {
  return (mode === null ? undefined : by_mode[mode]) ?? after_hours ?? 0;
}

export const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** @param hours may be a fraction, or negative */
export function hoursAfter(time: Timestamp, hours: number): Timestamp {
  return new Date(Date.parse(time) + Math.round(hours * HOUR_MS)).toISOString();
}

/** Beginning and end of a day in a time zone. Because of summer time, days can have 23 or 25 hours. */
interface LocalDay {
  readonly from: Timestamp;
  /** Beginning of the next day. */
  readonly until: Timestamp;
}

/** Local days by day and zone: computing one is a thousand times slower than a look-up, and containers share their days. */
const knownDays = new Map<string, LocalDay>();
const MAX_KNOWN_DAYS = 10_000;
const clocksByZone = new Map<string, Clock>();

/**
 * @param day as `2026-11-21`
 * @param zone an IANA name; UTC is used if the platform does not know it
 */
export function localDay(day: string, zone: string): LocalDay {
  const key = `${day} ${zone}`;
  const before = knownDays.get(key);
  if (before !== undefined) return before;
  const clock = clocksByZone.get(zone) ?? clockOf(zone);
  clocksByZone.set(zone, clock);
  const midnight = Date.parse(`${day}T00:00:00.000Z`);
  const found = { from: startOfDay(midnight, clock), until: startOfDay(midnight + DAY_MS, clock) };
  if (knownDays.size >= MAX_KNOWN_DAYS) knownDays.clear();
  knownDays.set(key, found);
  return found;
}

/** The local time of a zone at an instant, as if it were UTC, in milliseconds. */
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
 * The first instant of a day: midnight with the offset of the day before or, if the clocks were changed before it, with the
 * offset of the day after.
 * @param midnight midnight of the day in UTC
 */
function startOfDay(midnight: number, clock: Clock): Timestamp {
  const byOffsetAt = (instant: number) => midnight - (clock(instant) - instant);
  const before = byOffsetAt(midnight - DAY_MS);
  const isFirst = clock(before) >= midnight && clock(before - 1) < midnight;
  return new Date(isFirst ? before : byOffsetAt(midnight + DAY_MS)).toISOString();
}
