import { DomainError, type Places } from '@tracking/contracts';
import { type MilestoneInput, checkMilestone } from '../check-milestone.ts';
import { refuseIfAny, whileCancelled } from '../decision.ts';
import { contentOf, isSameContent, lastSent, overriddenBy } from '../last-sent.ts';
import { type ShipmentState, type TimelineEntry, findEntry } from '../state.ts';
import type { CommandContext, CommandHandler, DecideContext, Decision } from './command.ts';
import {
  type MilestoneAnswer,
  answerMilestone,
  decideMilestone,
  portsKnownOf,
  unknownContainer,
  unusualForMode,
} from './milestone-decision.ts';
import { corrected } from './record-milestone.ts';

/** What can be corrected of a milestone: all that a client posts but who says so. */
export type MilestonePatch = Partial<Omit<MilestoneInput, 'source'>>;

/** Corrects a milestone by hand: it outlives whatever a feed sends again. */
export interface CorrectMilestone extends CommandContext {
  readonly type: 'CorrectMilestone';
  readonly shipment_id: string;
  readonly milestone_id: string;
  /** Absent fields stay, null clears. Of the right types. */
  readonly patch: MilestonePatch;
}

interface CorrectResult {
  readonly outcome: 'corrected' | 'unchanged';
  readonly milestoneId: string;
}
export interface CorrectMilestoneAnswer extends Pick<CorrectResult, 'outcome'>, MilestoneAnswer {}

export const correctMilestone: CommandHandler<
  CorrectMilestone,
  CorrectResult,
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

function decide(command: CorrectMilestone, state: ShipmentState, context: DecideContext): Decision<CorrectResult> {
  const { milestone_id, patch, at } = command;
  const entry = findEntry(state, milestone_id);
  const { milestone: previous } = entry;
  if (previous.retracted_at !== null) {
    const message = 'The milestone was retracted. Post it again if it happened after all.';
    throw new DomainError('milestone_retracted', message);
  }
  const content = patched(command, entry, state, context.places);
  refuseTakenExternalId(content, entry, state);
  const unusual = patch.code === undefined ? [] : unusualForMode(content.code, state.record);
  const common = { milestoneId: previous.id, nextCheckAt: state.nextCheckAt };
  if (isSameContent(previous, content)) {
    const warnings = [...unusual, ...whileCancelled(state.record, state.record)];
    return { ...common, outcome: 'unchanged', events: [], warnings };
  }
  const overridden = overriddenBy(content, lastSent(entry));
  const outcome = { previous, milestone: corrected(previous, content), overridden };
  const decided = decideMilestone(at, state, outcome, context);
  return { ...common, outcome: 'corrected', ...decided, warnings: [...unusual, ...decided.warnings] };
}

/** What is not patched stays to the letter, whatever a check would make of it now. @throws DomainError */
function patched(
  { patch, at }: CorrectMilestone,
  { milestone: previous }: TimelineEntry,
  { record }: ShipmentState,
  places: Places,
): MilestoneInput {
  const isMoved = patch.location !== undefined && patch.timezone === undefined;
  const ofPlace = previous.location === null ? null : (places.find(previous.location)?.timezone ?? null);
  // The time zone of the former place goes with it; one that was given stays.
  const timezone = isMoved && previous.timezone === ofPlace ? { timezone: null } : {};
  const merged = { ...contentOf(previous), ...patch, ...timezone };
  const { milestone: checked, errors } = checkMilestone(merged, places, at, portsKnownOf(record));
  refuseIfAny([...errors, ...(patch.container_number === undefined ? [] : unknownContainer(checked, record))]);
  return {
    ...checked,
    ...(patch.location === undefined && { location: previous.location }),
    ...(patch.container_number === undefined && { container_number: previous.container_number }),
    ...(patch.location === undefined && patch.timezone === undefined && { timezone: previous.timezone }),
  };
}

/** It tells the milestones of a shipment apart. */
function refuseTakenExternalId({ external_id }: MilestoneInput, entry: TimelineEntry, { timeline }: ShipmentState) {
  if (external_id === null || external_id === entry.milestone.external_id) return;
  const other = timeline.find(
    ({ milestone }) => milestone.external_id === external_id && milestone.retracted_at === null,
  );
  if (other === undefined) return;
  throw new DomainError('milestone_exists', `Milestone ${other.milestone.id} of the shipment has this external_id.`);
}
