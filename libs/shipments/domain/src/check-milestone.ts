import {
  type Classifier,
  type FieldError,
  type MilestoneDetailValues,
  type MilestoneSource,
  type PlaceLookup,
  MILESTONE_REASON_CODES,
  type TimeOrDay,
  type Timestamp,
  parseMilestoneCode,
} from '@tracking/contracts';
import {
  computeEndOfDay,
  getTimeZoneOfPort,
  isDateWithoutTime,
  isLocalTime,
  buildStatedTimeFromStoredTime,
  convertLocalTimeToUtc,
} from './local-time.ts';
import { isContainerNumber, isImoNumber, normaliseCode, normaliseImoNumber, normaliseLocation } from './references.ts';

/** Times and days before 2000 are default values of other systems. Longer texts of this date come after it. */
const EARLIEST_DATE = '2000-01-01';

/** Returns true for a time in UTC, or a date, that is before 2000. */
export function isBeforeEarliestDate(time: TimeOrDay): boolean {
  return time < EARLIEST_DATE;
}
export const TIME_OUT_OF_RANGE_ERROR = {
  code: 'timestamp_out_of_range',
  message: 'Must not be before 2000. An earlier time is the default value of another system.',
} as const;

/** Milliseconds by which the time of an actual milestone may be after the command, because clocks differ. */
const MAX_CLOCK_SKEW_MS = 15 * 60_000;
const KNOWN_REASON_CODES: ReadonlySet<string> = new Set(MILESTONE_REASON_CODES);

/** A milestone as a client sent it, with correct types; null for absent fields. */
export interface MilestoneInput extends MilestoneDetailValues {
  readonly code: string;
  /**
   * Time in UTC, normalized, because times are compared as strings. Before validation, it can also be a date, or a local
   * time without an offset. The check derives `occurred_at_precision` from its form.
   */
  readonly occurred_at: TimeOrDay;
  readonly source: MilestoneSource;
  readonly classifier: Classifier;
  readonly reason_code: string | null;
  readonly location: string | null;
  /** IANA name. Before the check, it can also be {@link TIMEZONE_VALUE_FOR_LOCATION_ZONE}. */
  readonly timezone: string | null;
  readonly external_id: string | null;
  readonly container_number: string | null;
  readonly vessel: string | null;
  readonly voyage: string | null;
  readonly note: string | null;
  /** Time when the source stated the milestone, normalized like `occurred_at`, but never a date. */
  readonly reported_at: Timestamp | null;
}

/** Value of `timezone` that stands for the time zone of the milestone's location. */
export const TIMEZONE_VALUE_FOR_LOCATION_ZONE = 'location';

export interface CheckedMilestone {
  /** The normalized milestone. Use it only if there are no errors. */
  readonly milestone: MilestoneInput;
  readonly errors: readonly FieldError[];
}

/**
 * Checks and normalizes a milestone with fields of the correct types: code, reason, container number, place and times.
 * Dates and local times become times in UTC. An actual milestone must have a time, which must not be in the future.
 * @param at time of the command
 * @param ports ports of the shipment, if known; each counts as a place, in any spelling
 */
export function checkMilestone(
  input: MilestoneInput,
  places: PlaceLookup,
  at: Timestamp,
  ports: readonly (string | null)[] = [],
): CheckedMilestone {
  const container_number = input.container_number === null ? null : normaliseCode(input.container_number);
  const location = input.location === null ? null : normaliseLocation(input.location, places, ports) || null;
  const { timezone, errors } = findMilestoneTimeZoneAndErrors(input, location, places, ports);
  const imo = input.imo === null ? null : normaliseImoNumber(input.imo);
  const times = convertTimesToUtc(input, timezone);
  const milestone = { ...input, container_number, location, timezone, imo, ...times };
  return { milestone, errors: [...errors, ...MILESTONE_CHECKS.flatMap((check) => check(milestone, at) ?? [])] };
}

/** Finds the time zone of the milestone, and checks whether the forms of its times are allowed. */
function findMilestoneTimeZoneAndErrors(
  input: MilestoneInput,
  location: string | null,
  places: PlaceLookup,
  ports: readonly (string | null)[],
): { readonly timezone: string | null; readonly errors: readonly FieldError[] } {
  const { timezone: given } = input;
  const errors = checkTimeForms(input);
  const isOfLocation = given === TIMEZONE_VALUE_FOR_LOCATION_ZONE;
  if (given !== null && !isOfLocation) return { timezone: given, errors };
  const isNeeded = isOfLocation || isDateWithoutTime(input.occurred_at);
  const timezone =
    getTimeZoneOfPort(location, places) ?? (isNeeded ? findTimeZoneByPlaceName(location, places, ports) : null);
  return { timezone, errors: isOfLocation && timezone === null ? [...errors, UNKNOWN_TIMEZONE_ERROR] : errors };
}

const UNKNOWN_TIMEZONE_ERROR: FieldError = {
  param: 'timezone',
  code: 'unknown_timezone',
  message:
    'The time zone of the location is not known. Send an IANA name such as Europe/Amsterdam, or times with an offset.',
};

/** Refuses dates of actual milestones, and local times without a time zone. */
function checkTimeForms({ classifier, occurred_at, reported_at, timezone }: MilestoneInput): readonly FieldError[] {
  const code = 'invalid_timestamp';
  if (isDateWithoutTime(occurred_at) && classifier === 'actual') {
    const message =
      'An actual milestone needs a time such as 2026-11-21T09:30:00Z. Only an estimated or planned one can have a date.';
    return [{ param: 'occurred_at', code, message }];
  }
  if (timezone !== null) return [];
  const message =
    'Must have a time zone offset: Z for UTC, or for example +08:00. For local times, send timezone: an IANA name or location.';
  const times = Object.entries({ occurred_at, reported_at });
  return times.flatMap(([param, time]) => (time !== null && isLocalTime(time) ? [{ param, code, message }] : []));
}

/**
 * Returns the time zone of a place with a name. If several places have the name, those of the shipment come first; null
 * if the remaining places are in different zones.
 */
function findTimeZoneByPlaceName(
  location: string | null,
  places: PlaceLookup,
  ports: readonly (string | null)[],
): string | null {
  const named = location === null ? [] : (places.lookUpPlaceCodesByName(location) ?? []);
  const own = named.filter((code) => ports.includes(code));
  const zones = new Set((own.length > 0 ? own : named).map((code) => getTimeZoneOfPort(code, places)));
  const [zone = null] = zones;
  return zones.size === 1 ? zone : null;
}

/** Converts dates and local times to UTC. If a local time has no zone, which is an error, UTC is used. */
function convertTimesToUtc(
  { occurred_at, reported_at }: MilestoneInput,
  zone: string | null,
): Pick<MilestoneInput, 'occurred_at' | 'occurred_at_precision' | 'reported_at'> {
  const convert = (time: string) => (isLocalTime(time) ? convertLocalTimeToUtc(time, zone ?? 'UTC') : time);
  const isWholeDay = isDateWithoutTime(occurred_at);
  return {
    occurred_at: isWholeDay ? computeEndOfDay(occurred_at, zone) : convert(occurred_at),
    occurred_at_precision: isWholeDay ? 'day' : 'time',
    reported_at: reported_at === null ? null : convert(reported_at),
  };
}

/** Returns the error of a normalized milestone; undefined if it is valid. */
type MilestoneCheck = (milestone: MilestoneInput, at: Timestamp) => FieldError | undefined;

const MILESTONE_CHECKS: readonly MilestoneCheck[] = [
  findMilestoneCodeError,
  checkReasonCode,
  checkMilestoneTime,
  checkReportTime,
  checkContainerNumber,
  findMissingCoordinateError,
  checkImoNumber,
];

function findMilestoneCodeError({ code }: MilestoneInput): FieldError | undefined {
  if (parseMilestoneCode(code) !== undefined) return undefined;
  return { param: 'code', code: 'unknown_code', message: 'Must be a milestone code, see GET /v1/milestone_codes.' };
}

function checkReasonCode({ reason_code }: MilestoneInput): FieldError | undefined {
  if (reason_code === null || KNOWN_REASON_CODES.has(reason_code)) return undefined;
  return {
    param: 'reason_code',
    code: 'invalid_value',
    message: `Must be one of ${MILESTONE_REASON_CODES.join(', ')}.`,
  };
}

function checkMilestoneTime(milestone: MilestoneInput, at: Timestamp): FieldError | undefined {
  const { classifier, occurred_at, occurred_at_precision, timezone } = milestone;
  const { day } = buildStatedTimeFromStoredTime(occurred_at, occurred_at_precision, timezone);
  if (isBeforeEarliestDate(day ?? occurred_at)) return { param: 'occurred_at', ...TIME_OUT_OF_RANGE_ERROR };
  if (classifier !== 'actual' || !isInFutureBeyondClockSkew(occurred_at, at)) return undefined;
  const message = 'An actual milestone cannot be in the future. Send the classifier estimated or planned.';
  return { param: 'occurred_at', code: 'timestamp_in_future', message };
}

function checkReportTime({ reported_at }: MilestoneInput, at: Timestamp): FieldError | undefined {
  if (reported_at === null) return undefined;
  if (isBeforeEarliestDate(reported_at)) return { param: 'reported_at', ...TIME_OUT_OF_RANGE_ERROR };
  if (!isInFutureBeyondClockSkew(reported_at, at)) return undefined;
  const message = 'A report cannot be in the future. Send the time when the source stated the milestone.';
  return { param: 'reported_at', code: 'timestamp_in_future', message };
}

function isInFutureBeyondClockSkew(time: Timestamp, at: Timestamp): boolean {
  return Date.parse(time) > Date.parse(at) + MAX_CLOCK_SKEW_MS;
}

function checkContainerNumber({ container_number }: MilestoneInput): FieldError | undefined {
  if (container_number === null || isContainerNumber(container_number, undefined)) return undefined;
  const message = 'Must be a container number of ISO 6346 such as MSCU1234566, or a ULD number such as AKE12345LH.';
  return { param: 'container_number', code: 'invalid_container_number', message };
}

function findMissingCoordinateError({ latitude, longitude }: MilestoneInput): FieldError | undefined {
  if ((latitude === null) === (longitude === null)) return undefined;
  const [param, other] = latitude === null ? ['latitude', 'longitude'] : ['longitude', 'latitude'];
  return { param, code: 'required', message: `Is required together with ${other}.` };
}

function checkImoNumber({ imo }: MilestoneInput): FieldError | undefined {
  if (imo === null || isImoNumber(imo)) return undefined;
  const message = 'Must be an IMO number of a ship: seven digits with a valid check digit, such as 9321483.';
  return { param: 'imo', code: 'invalid_value', message };
}
