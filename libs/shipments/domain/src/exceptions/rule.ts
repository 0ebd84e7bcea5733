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
import type { DerivedShipment, StatusSubject } from '../derive.ts';
import type { DocumentState, TimelineEntry } from '../state.ts';

/** Inputs of the exception rules. */
export interface RuleFacts {
  readonly derived: DerivedShipment;
  readonly timeline: readonly TimelineEntry[];
  /** Time when the last milestone or estimated arrival was received; null if none was received. */
  readonly lastNewsAt: Timestamp | null;
  /** All documents, including deleted ones. */
  readonly documents: readonly DocumentState[];
  /** Document types that the workspace requires, by mode. */
  readonly requiredDocuments: RuleSettings['required_documents'];
  readonly places: Places;
}

/** A problem of a shipment or container that exists now or will exist later. */
export interface Finding {
  readonly container_number: string | null;
  /** The milestone that shows the problem. */
  readonly milestone: TimelineEntry | null;
  /**
   * Text of the exception, stored in events. Changing the wording updates every open exception, and webhooks announce
   * these updates.
   */
  readonly detail: string;
  /** Time when the problem begins; absent if it exists already. */
  readonly opens_at?: Timestamp;
  /** Deadline of the problem; set if its exception opens some hours before the deadline. */
  readonly due_at?: Timestamp;
  /** Minimum severity of the exception, regardless of the workspace's settings. */
  readonly severity?: Severity;
  /** Minimum severity of the exception from a given time on. */
  readonly worsens?: { readonly at: Timestamp; readonly severity: Severity };
  /** Values that the rule measured. */
  readonly metrics?: ShipmentException['metrics'];
  /** Returns true if the problem is worse than when a person resolved its exception, so that a new exception opens. */
  readonly isGraverThan?: (resolved: ShipmentException['metrics']) => boolean;
  /**
   * Returns resolutions of the problem that are specific to it, in addition to those that every exception has. Only
   * explanations call this function.
   */
  readonly resolvedBy: () => readonly ResolvedBy[];
}

/** A rule. Its exception opens while its condition exists, and resolves when the condition ends. */
export interface Rule {
  readonly type: AutomaticExceptionType;
  /** True for rules about cancelled shipments. All other rules are off while a shipment is cancelled. */
  readonly afterCancel?: true;
  /** Returns the findings of the rule: at most one per container, or one for the shipment. */
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

/**
 * Returns the earliest due time for which findings open exceptions, so that an import of old shipments does not open
 * very many exceptions.
 */
export function computeEarliestDueTime({ created_at }: Pick<ShipmentRecord, 'created_at'>): Timestamp {
  return addHours(created_at, -MAX_DUE_AGE_HOURS);
}

/** Returns the hours after which a rule opens an exception, for the mode of the shipment. */
export function selectRuleHours(
  { by_mode, after_hours }: ExceptionSettings,
  { mode }: Pick<ShipmentRecord, 'mode'>,
): number {
  return (mode === null ? undefined : by_mode[mode]) ?? after_hours ?? 0;
}

export const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** @param hours number of hours; may be fractional or negative */
export function addHours(time: Timestamp, hours: number): Timestamp {
  return new Date(Date.parse(time) + Math.round(hours * HOUR_MS)).toISOString();
}

/** Start and end of a day in a time zone. With daylight saving time, a day can have 23 or 25 hours. */
interface LocalDay {
  readonly from: Timestamp;
  /** Start of the next day. */
  readonly until: Timestamp;
}

/**
 * Cache of local days by day and zone. Computing a local day takes a thousand times as long as a lookup, and containers
 * share their days.
 */
const localDaysByZone = new Map<string, LocalDay>();
const MAX_CACHED_LOCAL_DAYS = 10_000;
const clocksByZone = new Map<string, Clock>();

/**
 * Returns the start and end of a local day.
 * @param day date such as `2026-11-21`
 * @param zone IANA name of the time zone; UTC is used if the platform does not know the zone
 */
export function getLocalDay(day: string, zone: string): LocalDay {
  const key = `${day} ${zone}`;
  const before = localDaysByZone.get(key);
  if (before !== undefined) return before;
  const clock = clocksByZone.get(zone) ?? getClock(zone);
  clocksByZone.set(zone, clock);
  const midnight = Date.parse(`${day}T00:00:00.000Z`);
  const found = { from: findStartOfDay(midnight, clock), until: findStartOfDay(midnight + DAY_MS, clock) };
  if (localDaysByZone.size >= MAX_CACHED_LOCAL_DAYS) localDaysByZone.clear();
  localDaysByZone.set(key, found);
  return found;
}

/**
 * Returns a clock for the zone. It converts an instant to the local time in milliseconds, as if the local time were
 * UTC.
 */
type Clock = (instant: number) => number;

function getClock(zone: string): Clock {
  try {
    const format = new Intl.DateTimeFormat('en', { ...CLOCK_FORMAT, timeZone: zone });
    return (instant) => readClock(format, instant);
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

function readClock(format: Intl.DateTimeFormat, instant: number): number {
  const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
}

/**
 * Returns the first instant of a local day: midnight with the UTC offset of the previous day. If the clocks were
 * changed before midnight, the offset of the day itself is used.
 * @param midnight midnight of the day in UTC
 */
function findStartOfDay(midnight: number, clock: Clock): Timestamp {
  const byOffsetAt = (instant: number) => midnight - (clock(instant) - instant);
  const before = byOffsetAt(midnight - DAY_MS);
  const isFirst = clock(before) >= midnight && clock(before - 1) < midnight;
  return new Date(isFirst ? before : byOffsetAt(midnight + DAY_MS)).toISOString();
}
