import {
  type FieldError,
  findMilestoneCode,
  type Milestone,
  type ShipmentRecord,
  type Timestamp,
  type Warning,
} from '@tracking/contracts';
import { findChanges, findLastMilestoneChanges } from '../changes.ts';
import { checkMilestone, type MilestoneInput } from '../check-milestone.ts';
import { checkEtaAfterEtd, SHIPMENT_LIMITS } from '../check-shipment.ts';
import { createChangedEvent, deriveShipment } from '../derive.ts';
import type { LastMilestones, Overridden } from '../events/event-data.ts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import { reconcileExceptions, addConsequences } from '../exceptions/reconcile.ts';
import {
  pickContent,
  isStillEstimated,
  isFeed,
  isSameContent,
  restoreLastSentContent,
  NO_OVERRIDES,
  findOverridden,
  mergeResentFields,
} from '../last-sent.ts';
import { findMilestone, type ShipmentState } from '../state.ts';
import {
  type RepeatedMilestone,
  findDuplicate,
  isRepeatOfLastSent,
  isSameStatement,
  putMilestone,
  findRestoredId,
  findSupersededIds,
} from '../timeline.ts';
import {
  type CommandContext,
  type CommandHandler,
  type DecideContext,
  type Decision,
  throwIfErrors,
  warnOfCancelledShipment,
} from './command.ts';

/**
 * Records a milestone, corrects the milestone with the same `external_id`, or finds that the milestone is already
 * recorded.
 */
export interface RecordMilestone extends CommandContext {
  readonly type: 'RecordMilestone';
  readonly shipment_id: string;
  readonly milestone: MilestoneInput;
}

interface RecordMilestoneResult {
  /**
   * `existing`: no milestone was recorded or corrected. The existing milestone may have received the `external_id`, or
   * now stores what the feed sent.
   */
  readonly outcome: 'recorded' | 'corrected' | 'existing';
  readonly milestoneId: string;
}
export interface RecordMilestoneAnswer extends Pick<RecordMilestoneResult, 'outcome'>, MilestoneAnswer {}
export type MilestoneDecision = Decision<RecordMilestoneResult>;

export const recordMilestone: CommandHandler<
  RecordMilestone,
  RecordMilestoneResult,
  Omit<RecordMilestoneAnswer, 'warnings'>
> = {
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
  const checked = checkMilestone(command.milestone, context.places, command.at, listPorts(before));
  const input = checked.milestone;
  throwIfErrors([...checked.errors, ...checkContainer(input, before)]);
  const unusual = warnOfUnusualMode(input.code, before);

  const duplicate = findDuplicate(state.timeline, input);
  if (duplicate === undefined) {
    throwIfErrors(checkMilestoneLimit(state));
    const milestone = createMilestone(command, input, context);
    const outcome = { previous: undefined, milestone, overridden: NO_OVERRIDES };
    const decided = decideMilestone(command.at, state, outcome, context);
    const warnings = [...unusual, ...decided.warnings];
    return { outcome: 'recorded', milestoneId: milestone.id, ...decided, warnings };
  }

  const previous = duplicate.entry.milestone;
  const { content, overridden } = mergeRepeatedMilestone(duplicate, input);
  const common = { milestoneId: previous.id, nextCheckAt: state.nextCheckAt };
  const known = [...unusual, ...(isFeed(input.source) ? warnOfOverriddenValues(duplicate, { input, overridden }) : [])];
  const isCurrentAgain = becomesCurrentAgain(duplicate, input);
  if (!isCurrentAgain && (duplicate.by !== 'external_id' || isSameContent(previous, content))) {
    const events = createRepetitionEvent(duplicate, content, overridden);
    const warnings = [...known, ...warnOfCancelledShipment(before, before)];
    if (events.length === 0) return { ...common, outcome: 'existing', events, warnings };
    return { ...common, outcome: 'existing', ...addConsequences(command.at, state, events, context), warnings };
  }
  const milestone = { ...replaceContent(previous, content), ...(isCurrentAgain && { superseded_at: null }) };
  const decided = decideMilestone(command.at, state, { previous, milestone, overridden }, context);
  return { ...common, outcome: 'corrected', ...decided, warnings: [...known, ...decided.warnings] };
}

/**
 * Returns true if a repeated milestone becomes current again, which happens if a person posts a superseded estimate
 * again. The repetition of a feed does not count, because feeds resend everything.
 */
function becomesCurrentAgain({ entry, by }: RepeatedMilestone, { source }: MilestoneInput): boolean {
  return by === 'content' && !isFeed(source) && entry.milestone.superseded_at !== null;
}

function createMilestone(command: RecordMilestone, input: MilestoneInput, context: DecideContext): Milestone {
  return {
    id: context.newId('mst', 0),
    shipment_id: command.shipment_id,
    ...addCatalogFields(input),
    recorded_at: command.at,
    recorded_by: command.actor,
    retracted_at: null,
    superseded_at: null,
    revision: 1,
  };
}

/**
 * Returns the milestone with new content. Its id, `recorded_at` and `recorded_by` do not change. A new statement makes
 * it current again.
 */
export function replaceContent(previous: Milestone, content: MilestoneInput): Milestone {
  const superseded_at = isSameStatement(previous, content) ? previous.superseded_at : null;
  return { ...previous, ...addCatalogFields(content), superseded_at, revision: previous.revision + 1 };
}

interface MergedMilestone {
  readonly content: MilestoneInput;
  readonly overridden: Overridden;
}

/**
 * Result of merging a milestone that a client sent again: the content, and the values of the feed that values of a
 * person override.
 */
function mergeRepeatedMilestone({ entry, by }: RepeatedMilestone, input: MilestoneInput): MergedMilestone {
  const content = pickContent(entry.milestone);
  if (by === 'overridden') return { content, overridden: entry.overridden };
  if (by === 'content') {
    // A milestone without an `external_id` receives the `external_id` of its repetition.
    const external_id = content.external_id ?? input.external_id;
    return { content: { ...content, external_id }, overridden: entry.overridden };
  }
  if (!isFeed(input.source))
    return { content: input, overridden: findOverridden(input, restoreLastSentContent(entry)) };
  if (isStillEstimated(entry, input)) return { content, overridden: entry.overridden };
  const news = mergeResentFields(entry, input);
  return { content: news, overridden: findOverridden(news, input) };
}

/** Returns the event that stores a repeated milestone. The event is not a correction and is not announced. */
function createRepetitionEvent(
  { entry }: RepeatedMilestone,
  content: MilestoneInput,
  overridden: Overridden,
): readonly ShipmentEventBody[] {
  const { milestone: previous } = entry;
  const sent = { ...content, ...overridden };
  if (isSameContent(previous, content) && isSameContent(restoreLastSentContent(entry), sent)) return [];
  const milestone = { ...previous, ...content };
  const data = { milestone, previous, supersedes: [], restores: [], last: { containers: [] }, overridden };
  return [{ type: 'milestone.corrected.v1', data }];
}

/** Returns warnings for a feed whose values are overridden by values of a person. */
function warnOfOverriddenValues(
  { entry, by }: RepeatedMilestone,
  { input, overridden }: { readonly input: MilestoneInput; readonly overridden: Overridden },
): readonly Warning[] {
  const { id, retracted_at } = entry.milestone;
  const fields = Object.keys(overridden);
  if (retracted_at === null && fields.length === 0) return [];
  // The feed sends the same values that the person has set.
  if (by === 'content' && !isRepeatOfLastSent(entry, input)) return [];
  const message =
    retracted_at === null
      ? `Milestone ${id} was corrected by hand. Your values for ${fields.join(', ')} do not replace the correction.`
      : `Milestone ${id} was retracted. Your repetition of it was not recorded.`;
  return [{ code: 'overridden_by_user', param: null, message }];
}

function checkMilestoneLimit({ timeline }: ShipmentState): readonly FieldError[] {
  if (timeline.length < SHIPMENT_LIMITS.milestones) return [];
  const message = `A shipment can have at most ${SHIPMENT_LIMITS.milestones} milestones.`;
  return [{ param: 'code', code: 'limit_exceeded', message }];
}

/** The answer to every command about one milestone. */
export interface MilestoneAnswer {
  readonly milestone: Milestone;
  /** Version of the shipment right after the command. */
  readonly shipment_version: number;
  readonly warnings: readonly Warning[];
}

/**
 * A milestone after a command. `previous` is undefined for a new milestone, and set for a corrected or retracted one.
 */
interface MilestoneOutcome {
  readonly previous: Milestone | undefined;
  readonly milestone: Milestone;
  readonly overridden: Overridden;
}

/**
 * Decides the events of recording, correcting or retracting a milestone, including changes of the shipment and
 * exceptions.
 */
export function decideMilestone(
  at: Timestamp,
  state: ShipmentState,
  outcome: MilestoneOutcome,
  context: DecideContext,
): Pick<Decision, 'events' | 'nextCheckAt' | 'warnings'> {
  const { previous, milestone, overridden } = outcome;
  const before = state.record;
  const superseded = findSupersededIds(state.timeline, milestone);
  const restored = previous === undefined ? [] : findRestoredId(state.timeline, previous, milestone);
  const timeline = state.timeline.slice();
  const revision = before.version;
  const changed = { milestone, isNew: previous === undefined, superseded, restored, at, overridden };
  putMilestone(timeline, changed, revision);
  const derived = deriveShipment({ ...state, timeline, revision }, context.places);

  const last = findLastMilestoneChanges(before, derived.record);
  const events = [createMilestoneEvent(outcome, { supersedes: superseded, restores: restored, last })];
  const changes = findChanges(before, derived.record);
  if (previous?.classifier === 'actual') {
    const to = milestone.retracted_at === null ? milestone : null;
    events.push(createChangedEvent({ ...changes, milestone: { from: previous, to } }, derived));
  } else if (changes !== undefined) {
    events.push(createChangedEvent(changes, derived));
  }
  const warnings = [...warnOfEtaBeforeEtd(before, derived.record), ...warnOfCancelledShipment(before, derived.record)];
  return { warnings, ...reconcileExceptions(state, { derived, timeline, events }, { ...context, at }) };
}

/**
 * Returns at most one warning: an estimate moved `etd` or `eta` of the shipment or a leg so that `eta` is before `etd`.
 */
function warnOfEtaBeforeEtd(before: ShipmentRecord, after: ShipmentRecord): readonly Warning[] {
  for (const [index, { etd, eta }] of [after, ...after.legs].entries()) {
    const was = index === 0 ? before : before.legs[index - 1];
    const crossed = was?.etd === etd && was.eta === eta ? undefined : checkEtaAfterEtd(null, etd, eta);
    if (crossed !== undefined) return [crossed];
  }
  return [];
}

interface MilestoneEffects {
  readonly supersedes: readonly string[];
  readonly restores: readonly string[];
  readonly last: LastMilestones;
}

function createMilestoneEvent(
  { previous, milestone, overridden }: MilestoneOutcome,
  effects: MilestoneEffects,
): ShipmentEventBody {
  const { supersedes, restores, last } = effects;
  if (previous === undefined) return { type: 'milestone.recorded.v1', data: { milestone, supersedes, last } };
  if (milestone.retracted_at !== null) return { type: 'milestone.retracted.v1', data: { milestone, restores, last } };
  return { type: 'milestone.corrected.v1', data: { milestone, previous, ...effects, overridden } };
}

/**
 * Adds the label and sequence of the catalog to the content.
 * @throws Error for an unknown code, which the check refuses earlier
 */
function addCatalogFields(content: MilestoneInput): MilestoneInput & Pick<Milestone, 'label' | 'sequence'> {
  const entry = findMilestoneCode(content.code);
  if (entry === undefined) throw new Error(`${content.code} passed the check, but the catalog does not contain it`);
  return { ...content, label: entry.label, sequence: entry.sequence };
}

export function answerMilestone({ milestoneId }: { readonly milestoneId: string }, after: ShipmentState) {
  const milestone = findMilestone(after, milestoneId);
  if (milestone === undefined) throw new Error(`cannot build the answer: the shipment has no milestone ${milestoneId}`);
  return { milestone, shipment_version: after.record.version };
}

/** Returns the ports of the shipment and its legs. A milestone may spell these ports in any form. */
export function listPorts({ origin_port, destination_port, legs }: ShipmentRecord): readonly (string | null)[] {
  return [origin_port, destination_port, ...legs.flatMap((leg) => [leg.origin_port, leg.destination_port])];
}

export function checkContainer(
  { container_number }: Pick<MilestoneInput, 'container_number'>,
  { container_numbers }: ShipmentRecord,
): readonly FieldError[] {
  if (container_number === null || container_numbers.includes(container_number)) return [];
  const message = `The shipment has no container ${container_number}.`;
  return [{ param: 'container_number', code: 'unknown_container', message }];
}

export function warnOfUnusualMode(code: string, { mode }: ShipmentRecord): readonly Warning[] {
  if (mode === null || findMilestoneCode(code)?.modes.includes(mode) !== false) return [];
  return [
    { code: 'code_unusual_for_mode', param: 'code', message: `${code} is unusual for shipments with mode ${mode}.` },
  ];
}
