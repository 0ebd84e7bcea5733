import { DomainError, chooseLatestTime, type Milestone, type PlaceLookup, type Timestamp } from '@tracking/contracts';
import { checkMilestone, type MilestoneInput } from '../check-milestone.ts';
import {
  type MilestoneContent,
  pickFieldsSetBySender,
  isSameMilestoneContent,
  getMilestoneAsLastSent,
  findOverriddenFeedValues,
} from '../last-sent.ts';
import { toLocalDate, isDateWithoutTime } from '../local-time.ts';
import { isSameEventAndTime } from '../reports.ts';
import { findTimelineEntryOrThrow, type ShipmentState, type TimelineEntry } from '../state.ts';
import { hasSameMilestoneExternalId } from '../timeline.ts';
import {
  type CommandContext,
  type CommandHandler,
  type DecideContext,
  type Decision,
  throwIfInvalidFields,
  warnOfCancelledShipment,
} from './command.ts';
import { decideMilestone } from './milestone-decision.ts';
import {
  createMilestoneAnswer,
  reviseMilestone,
  type MilestoneAnswer,
  listPortsOfShipment,
  checkContainerExists,
  createUnusualCodeWarnings,
} from './record-milestone.ts';

/** Fields of a milestone that a client can correct: all fields that it posts, except the source. */
export type MilestonePatch = Partial<Omit<MilestoneInput, 'source'>>;

/** Corrects a milestone by hand. If a feed sends the milestone again, the correction stays. */
export interface CorrectMilestoneCommand extends CommandContext {
  readonly type: 'CorrectMilestone';
  readonly shipment_id: string;
  readonly milestone_id: string;
  /** Fields to correct, with correct types. Absent fields keep their value, null clears. */
  readonly patch: MilestonePatch;
}

interface CorrectMilestoneResult {
  readonly outcome: 'corrected' | 'unchanged';
  readonly milestoneId: string;
}
export interface CorrectMilestoneAnswer extends Pick<CorrectMilestoneResult, 'outcome'>, MilestoneAnswer {}

export const correctMilestoneHandler: CommandHandler<
  CorrectMilestoneCommand,
  CorrectMilestoneResult,
  Omit<CorrectMilestoneAnswer, 'warnings'>
> = {
  decideCommandOnExistingShipment: decideCorrection,
  rebuildResultFromEvents(events) {
    for (const { type, data } of events) {
      if (type === 'milestone.corrected.v1') return { outcome: 'corrected', milestoneId: data.milestone.id };
    }
    return undefined;
  },
  buildAnswerFromResult: (result, after) => ({ outcome: result.outcome, ...createMilestoneAnswer(result, after) }),
};

function decideCorrection(
  command: CorrectMilestoneCommand,
  state: ShipmentState,
  context: DecideContext,
): Decision<CorrectMilestoneResult> {
  const { milestone_id, patch, at } = command;
  const entry = findTimelineEntryOrThrow(state, milestone_id);
  const { milestone: previous } = entry;
  if (previous.retracted_at !== null) {
    const message = 'The milestone was retracted. To restore it, post it again.';
    throw new DomainError('milestone_retracted', message);
  }
  const { content, stated_at } = applyMilestonePatch(command, entry, state, context.places);
  requireUniqueMilestoneExternalId(content, entry, state);
  const unusual = patch.code === undefined ? [] : createUnusualCodeWarnings(content.code, state.record);
  const common = { milestoneId: previous.id, nextCheckAt: state.nextCheckAt };
  const reported_at = stated_at ?? computeReportTime(command, content, entry);
  if (isSameMilestoneContent(previous, content) && reported_at === previous.reported_at) {
    const warnings = [...unusual, ...warnOfCancelledShipment(state.record, state.record)];
    return { ...common, outcome: 'unchanged', events: [], warnings };
  }
  const overridden = findOverriddenFeedValues(content, getMilestoneAsLastSent(entry));
  const milestone = reviseMilestone(previous, content, reported_at);
  const outcome = { previous, milestone, overridden, formerReport: null };
  const { isSuperseded: _, ...decided } = decideMilestone(at, state, outcome, context);
  return { ...common, outcome: 'corrected', ...decided, warnings: [...unusual, ...decided.warnings] };
}

/**
 * Returns the milestone with the patched fields. All other fields stay exactly as they are, even if the check would
 * change them today. `stated_at` is the `reported_at` of the patch in UTC; null if the patch has none or resets it.
 * @throws DomainError
 */
function applyMilestonePatch(
  { patch, at }: CorrectMilestoneCommand,
  { milestone: previous }: TimelineEntry,
  { record }: ShipmentState,
  places: PlaceLookup,
): { readonly content: MilestoneContent; readonly stated_at: Timestamp | null } {
  const isMoved = patch.location !== undefined && patch.timezone === undefined;
  const dropFormerTimezone = previous.location === null ? null : (places.find(previous.location)?.timezone ?? null);
  // Drops the time zone of the former place. A time zone that a client sent stays.
  const timezone = isMoved && previous.timezone === dropFormerTimezone ? { timezone: null } : {};
  const merged = {
    ...pickFieldsSetBySender(previous),
    reported_at: null,
    ...getDateOfDayMilestone(previous),
    ...patch,
    ...timezone,
  };
  const { milestone, errors } = checkMilestone(merged, places, at, listPortsOfShipment(record));
  const { reported_at: stated_at, ...checked } = milestone;
  throwIfInvalidFields([
    ...errors,
    ...(patch.container_number === undefined ? [] : checkContainerExists(milestone, record)),
  ]);
  const content = {
    ...checked,
    ...(patch.location === undefined && { location: previous.location }),
    ...(patch.container_number === undefined && { container_number: previous.container_number }),
    ...(patch.location === undefined && patch.timezone === undefined && getFieldsKeptByCorrection(previous, patch)),
  };
  return { content, stated_at };
}

/** Returns the date of a milestone that is a day. It stays the same day, even if its place or time zone changes. */
function getDateOfDayMilestone({ occurred_at, occurred_at_precision, timezone }: Milestone): Partial<MilestoneContent> {
  return occurred_at_precision === 'day' ? { occurred_at: toLocalDate(occurred_at, timezone) } : {};
}

/** Returns the fields that a correction keeps if it changes neither the place nor the time zone. */
function getFieldsKeptByCorrection(
  { timezone, occurred_at }: Milestone,
  patch: MilestonePatch,
): Partial<MilestoneContent> {
  if (patch.occurred_at === undefined) return { timezone, occurred_at };
  return isDateWithoutTime(patch.occurred_at) ? {} : { timezone };
}

/**
 * Returns the time of the report after a correction without one: the time of the correction if it states the event again.
 * A correction back to the values of a feed restores the time of the feed's report.
 */
function computeReportTime(
  { patch, at }: CorrectMilestoneCommand,
  content: MilestoneContent,
  entry: TimelineEntry,
): Timestamp {
  // The patch resets the time of the report.
  if (patch.reported_at !== undefined) return at;
  const { milestone: previous } = entry;
  if (isSameEventAndTime(previous, content)) return previous.reported_at;
  const sent = getMilestoneAsLastSent(entry);
  return isSameMilestoneContent(sent, content) ? sent.reported_at : chooseLatestTime(at, previous.reported_at);
}

/** Checks that no other milestone of the container has the `external_id`. Retracted milestones do not count. */
function requireUniqueMilestoneExternalId(
  content: MilestoneContent,
  { milestone: previous }: TimelineEntry,
  { timeline }: ShipmentState,
) {
  if (content.external_id === null || hasSameMilestoneExternalId(content, previous)) return;
  const other = timeline.find(
    ({ milestone }) =>
      milestone.id !== previous.id && hasSameMilestoneExternalId(milestone, content) && milestone.retracted_at === null,
  );
  if (other === undefined) return;
  throw new DomainError(
    'milestone_exists',
    `Milestone ${other.milestone.id} of the shipment already has this external_id for this container.`,
  );
}

/** Retracts a milestone. It stays on the timeline but has no effect. */
export interface RetractMilestoneCommand extends CommandContext {
  readonly type: 'RetractMilestone';
  readonly shipment_id: string;
  readonly milestone_id: string;
}

interface RetractMilestoneResult {
  /** `unchanged`: the milestone was already retracted. */
  readonly outcome: 'retracted' | 'unchanged';
  readonly milestoneId: string;
}
export interface RetractMilestoneAnswer extends Pick<RetractMilestoneResult, 'outcome'>, MilestoneAnswer {}

export const retractMilestoneHandler: CommandHandler<
  RetractMilestoneCommand,
  RetractMilestoneResult,
  Omit<RetractMilestoneAnswer, 'warnings'>
> = {
  decideCommandOnExistingShipment({ milestone_id, at }, state, context) {
    const { milestone: previous, overridden } = findTimelineEntryOrThrow(state, milestone_id);
    const common = { milestoneId: previous.id, nextCheckAt: state.nextCheckAt };
    if (previous.retracted_at !== null) {
      const warnings = warnOfCancelledShipment(state.record, state.record);
      return { ...common, outcome: 'unchanged', events: [], warnings };
    }
    const milestone = { ...previous, retracted_at: at, revision: previous.revision + 1 };
    const outcome = { previous, milestone, overridden, formerReport: null };
    const { isSuperseded: _, ...decided } = decideMilestone(at, state, outcome, context);
    return { ...common, outcome: 'retracted', ...decided };
  },
  rebuildResultFromEvents(events) {
    for (const { type, data } of events) {
      if (type === 'milestone.retracted.v1') return { outcome: 'retracted', milestoneId: data.milestone.id };
    }
    return undefined;
  },
  buildAnswerFromResult: (result, after) => ({ outcome: result.outcome, ...createMilestoneAnswer(result, after) }),
};
