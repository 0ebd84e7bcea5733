import {
  type Classifier,
  type FieldError,
  type MilestoneSource,
  type Places,
  REASON_CODES,
  type Timestamp,
  findMilestoneCode,
} from '@tracking/contracts';
import { isContainerNumber, normaliseCode, normaliseLocation } from './references.ts';

/** Milliseconds by which the time of an actual milestone may be after the command, because clocks differ. */
const MAX_CLOCK_SKEW_MS = 15 * 60_000;
const KNOWN_REASON_CODES: ReadonlySet<string> = new Set(REASON_CODES);

/** A milestone as a client sent it, with correct types; null for absent fields. */
export interface MilestoneInput {
  readonly code: string;
  /** Time in UTC. It is normalized, because times are compared as strings. */
  readonly occurred_at: Timestamp;
  readonly source: MilestoneSource;
  readonly classifier: Classifier;
  readonly reason_code: string | null;
  readonly location: string | null;
  readonly timezone: string | null;
  readonly external_id: string | null;
  readonly container_number: string | null;
  readonly vessel: string | null;
  readonly voyage: string | null;
  readonly note: string | null;
}

export interface CheckedMilestone {
  /** The normalized milestone. Use it only if there are no errors. */
  readonly milestone: MilestoneInput;
  readonly errors: readonly FieldError[];
}

/**
 * Checks and normalizes a milestone with fields of the correct types: code, reason, container number and place. An
 * actual milestone must not be in the future.
 * @param at time of the command
 * @param ports ports of the shipment, if known; each counts as a place, in any spelling
 */
export function checkMilestone(
  input: MilestoneInput,
  places: Places,
  at: Timestamp,
  ports: readonly (string | null)[] = [],
): CheckedMilestone {
  const container_number = input.container_number === null ? null : normaliseCode(input.container_number);
  const location = input.location === null ? null : normaliseLocation(input.location, places, ports) || null;
  const timezone = input.timezone ?? (location === null ? null : (places.find(location)?.timezone ?? null));
  const milestone = { ...input, container_number, location, timezone };
  return { milestone, errors: MILESTONE_CHECKS.flatMap((check) => check(milestone, at) ?? []) };
}

/** Returns the error of a normalized milestone; undefined if it is valid. */
type MilestoneCheck = (milestone: MilestoneInput, at: Timestamp) => FieldError | undefined;

const MILESTONE_CHECKS: readonly MilestoneCheck[] = [checkCode, checkReasonCode, checkTime, checkContainerNumber];

function checkCode({ code }: MilestoneInput): FieldError | undefined {
  if (findMilestoneCode(code) !== undefined) return undefined;
  return { param: 'code', code: 'unknown_code', message: 'Must be a milestone code, see GET /v1/milestone_codes.' };
}

function checkReasonCode({ reason_code }: MilestoneInput): FieldError | undefined {
  if (reason_code === null || KNOWN_REASON_CODES.has(reason_code)) return undefined;
  return { param: 'reason_code', code: 'invalid_value', message: `Must be one of ${REASON_CODES.join(', ')}.` };
}

function checkTime({ classifier, occurred_at }: MilestoneInput, at: Timestamp): FieldError | undefined {
  if (classifier !== 'actual' || Date.parse(occurred_at) <= Date.parse(at) + MAX_CLOCK_SKEW_MS) return undefined;
  const message = 'An actual milestone cannot be in the future. Send the classifier estimated or planned.';
  return { param: 'occurred_at', code: 'timestamp_in_future', message };
}

function checkContainerNumber({ container_number }: MilestoneInput): FieldError | undefined {
  if (container_number === null || isContainerNumber(container_number, undefined)) return undefined;
  const message = 'Must be the number of a container on the shipment.';
  return { param: 'container_number', code: 'invalid_container_number', message };
}
