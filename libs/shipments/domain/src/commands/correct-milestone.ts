import { DomainError, type Places } from '@tracking/contracts';
import { checkMilestone, type MilestoneInput } from '../check-milestone.ts';
import { pickContent, isSameContent, restoreLastSentContent, findOverridden } from '../last-sent.ts';
import { findEntry, type ShipmentState, type TimelineEntry } from '../state.ts';
import {
  type CommandContext,
  type CommandHandler,
  type DecideContext,
  type Decision,
  throwIfErrors,
  warnOfCancelledShipment,
} from './command.ts';
import {
  answerMilestone,
  replaceContent,
  decideMilestone,
  type MilestoneAnswer,
  listPorts,
  checkContainer,
  warnOfUnusualMode,
} from './record-milestone.ts';

/** Fields of a milestone that a client can correct: all fields that it posts, except the source. */
export type MilestonePatch = Partial<Omit<MilestoneInput, 'source'>>;

/** Corrects a milestone by hand. If a feed sends the milestone again, the correction stays. */
export interface CorrectMilestone extends CommandContext {
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

export const correctMilestone: CommandHandler<
  CorrectMilestone,
  CorrectMilestoneResult,
  Omit<CorrectMilestoneAnswer, 'warnings'>
> = {
  decide,
  resultOf(events) {
    for (const { type, data } of events) {
      if (type === 'milestone.corrected.v1') return { outcome: 'corrected', milestoneId: data.milestone.id };
    }
    return undefined;
  },
  answer: (result, after) => ({ outcome: result.outcome, ...answerMilestone(result, after) }),
};

function decide(
  command: CorrectMilestone,
  state: ShipmentState,
  context: DecideContext,
): Decision<CorrectMilestoneResult> {
  const { milestone_id, patch, at } = command;
  const entry = findEntry(state, milestone_id);
  const { milestone: previous } = entry;
  if (previous.retracted_at !== null) {
    const message = 'The milestone was retracted. To restore it, post it again.';
    throw new DomainError('milestone_retracted', message);
  }
  const content = applyPatch(command, entry, state, context.places);
  requireUniqueExternalId(content, entry, state);
  const unusual = patch.code === undefined ? [] : warnOfUnusualMode(content.code, state.record);
  const common = { milestoneId: previous.id, nextCheckAt: state.nextCheckAt };
  if (isSameContent(previous, content)) {
    const warnings = [...unusual, ...warnOfCancelledShipment(state.record, state.record)];
    return { ...common, outcome: 'unchanged', events: [], warnings };
  }
  const overridden = findOverridden(content, restoreLastSentContent(entry));
  const outcome = { previous, milestone: replaceContent(previous, content), overridden };
  const decided = decideMilestone(at, state, outcome, context);
  return { ...common, outcome: 'corrected', ...decided, warnings: [...unusual, ...decided.warnings] };
}

/**
 * Returns the milestone with the patched fields. All other fields stay exactly as they are, even if the check would
 * change them today.
 * @throws DomainError
 */
function applyPatch(
  { patch, at }: CorrectMilestone,
  { milestone: previous }: TimelineEntry,
  { record }: ShipmentState,
  places: Places,
): MilestoneInput {
  const isMoved = patch.location !== undefined && patch.timezone === undefined;
  const dropFormerTimezone = previous.location === null ? null : (places.find(previous.location)?.timezone ?? null);
  // Drops the time zone of the former place. A time zone that a client sent stays.
  const timezone = isMoved && previous.timezone === dropFormerTimezone ? { timezone: null } : {};
  const merged = { ...pickContent(previous), ...patch, ...timezone };
  const { milestone: checked, errors } = checkMilestone(merged, places, at, listPorts(record));
  throwIfErrors([...errors, ...(patch.container_number === undefined ? [] : checkContainer(checked, record))]);
  return {
    ...checked,
    ...(patch.location === undefined && { location: previous.location }),
    ...(patch.container_number === undefined && { container_number: previous.container_number }),
    ...(patch.location === undefined && patch.timezone === undefined && { timezone: previous.timezone }),
  };
}

/** Checks that no other milestone of the shipment has the `external_id`. Retracted milestones do not count. */
function requireUniqueExternalId({ external_id }: MilestoneInput, entry: TimelineEntry, { timeline }: ShipmentState) {
  if (external_id === null || external_id === entry.milestone.external_id) return;
  const other = timeline.find(
    ({ milestone }) => milestone.external_id === external_id && milestone.retracted_at === null,
  );
  if (other === undefined) return;
  throw new DomainError(
    'milestone_exists',
    `Milestone ${other.milestone.id} of the shipment already has this external_id.`,
  );
}

/** Retracts a milestone. It stays on the timeline but has no effect. */
export interface RetractMilestone extends CommandContext {
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

export const retractMilestone: CommandHandler<
  RetractMilestone,
  RetractMilestoneResult,
  Omit<RetractMilestoneAnswer, 'warnings'>
> = {
  decide({ milestone_id, at }, state, context) {
    const { milestone: previous, overridden } = findEntry(state, milestone_id);
    const common = { milestoneId: previous.id, nextCheckAt: state.nextCheckAt };
    if (previous.retracted_at !== null) {
      const warnings = warnOfCancelledShipment(state.record, state.record);
      return { ...common, outcome: 'unchanged', events: [], warnings };
    }
    const milestone = { ...previous, retracted_at: at, revision: previous.revision + 1 };
    return {
      ...common,
      outcome: 'retracted',
      ...decideMilestone(at, state, { previous, milestone, overridden }, context),
    };
  },
  resultOf(events) {
    for (const { type, data } of events) {
      if (type === 'milestone.retracted.v1') return { outcome: 'retracted', milestoneId: data.milestone.id };
    }
    return undefined;
  },
  answer: (result, after) => ({ outcome: result.outcome, ...answerMilestone(result, after) }),
};
