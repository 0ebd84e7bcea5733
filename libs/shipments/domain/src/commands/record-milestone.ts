import type { FieldError, Milestone, Warning } from '@tracking/contracts';
import { type MilestoneInput, checkMilestone } from '../check-milestone.ts';
import { SHIPMENT_LIMITS } from '../check-shipment.ts';
import { refuseIfAny, whileCancelled } from '../decision.ts';
import type { Overridden } from '../events/event-data.ts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import {
  NOT_OVERRIDDEN,
  contentOf,
  isEstimatedStill,
  isFeed,
  isSameContent,
  lastSent,
  overriddenBy,
  withNews,
} from '../last-sent.ts';
import type { ShipmentState } from '../state.ts';
import { type Duplicate, findDuplicate, isRepeatOfLastSent, isSameStatement } from '../timeline.ts';
import type { CommandContext, CommandHandler, DecideContext, Decision } from './command.ts';
import { withConsequences } from './consequences.ts';
import {
  type MilestoneAnswer,
  answerMilestone,
  catalogued,
  decideMilestone,
  portsKnownOf,
  unknownContainer,
  unusualForMode,
} from './milestone-decision.ts';

/** Records a milestone, corrects the one that has its `external_id`, or finds that it is known already. */
export interface RecordMilestone extends CommandContext {
  readonly type: 'RecordMilestone';
  readonly shipment_id: string;
  readonly milestone: MilestoneInput;
}

interface RecordResult {
  /** `existing`: nothing recorded; it may have taken the `external_id`, or the feed's word may be remembered. */
  readonly outcome: 'recorded' | 'corrected' | 'existing';
  readonly milestoneId: string;
}
export interface RecordMilestoneAnswer extends Pick<RecordResult, 'outcome'>, MilestoneAnswer {}
export type MilestoneDecision = Decision<RecordResult>;

export const recordMilestone: CommandHandler<RecordMilestone, RecordResult, Omit<RecordMilestoneAnswer, 'warnings'>> = {
  decide,
  resultOf(events) {
    for (const { type, data } of events) {
      if (type === 'milestone.recorded.v1') return { outcome: 'recorded', milestoneId: data.milestone.id };
      if (type !== 'milestone.corrected.v1') continue;
      const { milestone, previous } = data;
      return {
        outcome: milestone.revision === previous.revision ? 'existing' : 'corrected',
        milestoneId: milestone.id,
      };
    }
    return undefined;
  },
  answer: (result, after) => ({ outcome: result.outcome, ...answerMilestone(result, after) }),
};

function decide(command: RecordMilestone, state: ShipmentState, context: DecideContext): MilestoneDecision {
  const before = state.record;
  const checked = checkMilestone(command.milestone, context.places, command.at, portsKnownOf(before));
  const input = checked.milestone;
  refuseIfAny([...checked.errors, ...unknownContainer(input, before)]);
  const unusual = unusualForMode(input.code, before);

  const duplicate = findDuplicate(state.timeline, input);
  if (duplicate === undefined) {
    refuseIfAny(tooMany(state));
    const milestone = recorded(command, input, context);
    const outcome = { previous: undefined, milestone, overridden: NOT_OVERRIDDEN };
    const decided = decideMilestone(command.at, state, outcome, context);
    const warnings = [...unusual, ...decided.warnings];
    return { outcome: 'recorded', milestoneId: milestone.id, ...decided, warnings };
  }

  const previous = duplicate.entry.milestone;
  const { content, overridden } = sentAgain(duplicate, input);
  const common = { milestoneId: previous.id, nextCheckAt: state.nextCheckAt };
  const known = [...unusual, ...(isFeed(input.source) ? stillOverridden(duplicate, { input, overridden }) : [])];
  const isTakenUp = isTakenUpAgain(duplicate, input);
  if (!isTakenUp && (duplicate.by !== 'external_id' || isSameContent(previous, content))) {
    const events = remembered(duplicate, content, overridden);
    const warnings = [...known, ...whileCancelled(before, before)];
    if (events.length === 0) return { ...common, outcome: 'existing', events, warnings };
    return { ...common, outcome: 'existing', ...withConsequences(command.at, state, events, context), warnings };
  }
  const milestone = { ...corrected(previous, content), ...(isTakenUp && { superseded_at: null }) };
  const decided = decideMilestone(command.at, state, { previous, milestone, overridden }, context);
  return { ...common, outcome: 'corrected', ...decided, warnings: [...known, ...decided.warnings] };
}

/** Feeds resend all they know; a person who posts a superseded estimate again means it. */
function isTakenUpAgain({ entry, by }: Duplicate, { source }: MilestoneInput): boolean {
  return by === 'content' && !isFeed(source) && entry.milestone.superseded_at !== null;
}

function recorded(command: RecordMilestone, input: MilestoneInput, context: DecideContext): Milestone {
  return {
    id: context.newId('mst', 0),
    shipment_id: command.shipment_id,
    ...catalogued(input),
    recorded_at: command.at,
    recorded_by: command.actor,
    retracted_at: null,
    superseded_at: null,
    revision: 1,
  };
}

/**
 * It stays the milestone that it was, when and by whom it was recorded included. One that says something new is the
 * current one again.
 */
export function corrected(previous: Milestone, content: MilestoneInput): Milestone {
  const superseded_at = isSameStatement(previous, content) ? previous.superseded_at : null;
  return { ...previous, ...catalogued(content), superseded_at, revision: previous.revision + 1 };
}

interface SentAgain {
  readonly content: MilestoneInput;
  readonly overridden: Overridden;
}

/** What a milestone says when it was sent again, and what of the feed's word stands back behind a person's then. */
function sentAgain({ entry, by }: Duplicate, input: MilestoneInput): SentAgain {
  const content = contentOf(entry.milestone);
  if (by === 'overridden') return { content, overridden: entry.overridden };
  if (by === 'content') {
    // One that came without an external_id is known by this from now on.
    const external_id = content.external_id ?? input.external_id;
    return { content: { ...content, external_id }, overridden: entry.overridden };
  }
  if (!isFeed(input.source)) return { content: input, overridden: overriddenBy(input, lastSent(entry)) };
  if (isEstimatedStill(entry, input)) return { content, overridden: entry.overridden };
  const news = withNews(entry, input);
  return { content: news, overridden: overriddenBy(news, input) };
}

/** What is to be remembered of a repetition, which is no correction and is announced to nobody. */
function remembered(
  { entry }: Duplicate,
  content: MilestoneInput,
  overridden: Overridden,
): readonly ShipmentEventBody[] {
  const { milestone: previous } = entry;
  const sent = { ...content, ...overridden };
  if (isSameContent(previous, content) && isSameContent(lastSent(entry), sent)) return [];
  const milestone = { ...previous, ...content };
  const data = { milestone, previous, supersedes: [], restores: [], last: { containers: [] }, overridden };
  return [{ type: 'milestone.corrected.v1', data }];
}

/** Tells a feed that a person's word stands against it. */
function stillOverridden(
  { entry, by }: Duplicate,
  { input, overridden }: { readonly input: MilestoneInput; readonly overridden: Overridden },
): readonly Warning[] {
  const { id, retracted_at } = entry.milestone;
  const fields = Object.keys(overridden);
  if (retracted_at === null && fields.length === 0) return [];
  // It says by itself what the person said.
  if (by === 'content' && !isRepeatOfLastSent(entry, input)) return [];
  const message =
    retracted_at === null
      ? `${id} was corrected by hand: ${fields.join(', ')} of it stays as it is.`
      : `${id} was retracted: what repeats it is not recorded again.`;
  return [{ code: 'overridden_by_user', param: null, message }];
}

function tooMany({ timeline }: ShipmentState): readonly FieldError[] {
  if (timeline.length < SHIPMENT_LIMITS.milestones) return [];
  const message = `A shipment has at most ${SHIPMENT_LIMITS.milestones} milestones.`;
  return [{ param: 'code', code: 'limit_exceeded', message }];
}
