import type { FieldError, Milestone, ShipmentRecord, Timestamp, Warning } from '@tracking/contracts';
import { chooseLatestTime, parseMilestoneCode } from '@tracking/contracts';
import { checkMilestone, type MilestoneInput } from '../check-milestone.ts';
import { SHIPMENT_LIMITS } from '../check-shipment.ts';
import type { Overridden } from '../events/event-data.ts';
import { isSupersededEstimate } from '../dropped-estimates.ts';
import { findStoredEventDescriptor, type ShipmentEventBody } from '../events/stored-events.ts';
import { addEventsOfDerivedChanges } from '../exceptions/reconcile.ts';
import {
  type MilestoneContent,
  pickFieldsSetBySender,
  isEstimateOfEventRecordedByHand,
  isFeedSource,
  isSameMilestoneContent,
  getMilestoneAsLastSent,
  NO_OVERRIDDEN_VALUES,
  findOverriddenFeedValues,
  listOverriddenFields,
  mergeResentFields,
} from '../last-sent.ts';
import { isSameEventAndTime } from '../reports.ts';
import { findMilestone, type ShipmentState } from '../state.ts';
import {
  type RepeatedMilestone,
  findDuplicateMilestone,
  isFeedRepeatOfCorrectedMilestone,
  insertMilestone,
} from '../timeline.ts';
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
  createEventsOfFormerEstimate,
  getReplacedEstimateReport,
  computeReportTime,
  createRepeatedMilestoneEvent,
  isOutdatedReport,
} from './repeated-reports.ts';

/**
 * Records a milestone, corrects the milestone with the same `external_id`, or finds that the milestone is already
 * recorded.
 */
export interface RecordMilestoneCommand extends CommandContext {
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
  /** The recorded milestone, if it is not kept because the source has stated many later estimates. */
  readonly droppedMilestone?: Milestone | undefined;
}
export interface RecordMilestoneAnswer extends Pick<RecordMilestoneResult, 'outcome'>, MilestoneAnswer {}
export type MilestoneDecision = Decision<RecordMilestoneResult>;

export const recordMilestoneHandler: CommandHandler<
  RecordMilestoneCommand,
  RecordMilestoneResult,
  Omit<RecordMilestoneAnswer, 'warnings'>
> = {
  decideCommandOnExistingShipment: decideMilestoneRecording,
  rebuildResultFromEvents(events) {
    for (const { type, data } of events) {
      if (type === 'milestone.recorded.v1') {
        const { milestone, drops = [] } = data;
        const droppedMilestone = drops.includes(milestone.id) ? milestone : undefined;
        return { outcome: 'recorded', milestoneId: milestone.id, droppedMilestone };
      }
      if (type !== 'milestone.corrected.v1') continue;
      const { milestone, previous } = data;
      const outcome = milestone.revision === previous.revision ? 'existing' : 'corrected';
      return { outcome, milestoneId: milestone.id };
    }
    return undefined;
  },
  buildAnswerFromResult: (result, after) => ({ outcome: result.outcome, ...createMilestoneAnswer(result, after) }),
};

function decideMilestoneRecording(
  command: RecordMilestoneCommand,
  state: ShipmentState,
  context: DecideContext,
): MilestoneDecision {
  const before = state.record;
  const checked = checkMilestone(command.milestone, context.places, command.at, listPortsOfShipment(before));
  const input = checked.milestone;
  throwIfInvalidFields([...checked.errors, ...checkContainerExists(input, before)]);
  const unusual = createUnusualCodeWarnings(input.code, before);

  const duplicate = findDuplicateMilestone(state, input);
  if (duplicate === undefined) return decideNewMilestone(command, input, state, { ...context, unusual });

  const { entry } = duplicate;
  const previous = entry.milestone;
  const existing = { outcome: 'existing', milestoneId: previous.id, nextCheckAt: state.nextCheckAt } as const;
  const cancelled = warnOfCancelledShipment(before, before);
  if (isOutdatedReport(duplicate, input)) {
    const warnings = [...unusual, OUTDATED_REPORT_WARNING, ...cancelled];
    const events = createEventsOfFormerEstimate(duplicate, input);
    return { ...existing, ...addConsequencesOfRepeatedMilestone(command.at, state, events, context), warnings };
  }
  const { content, overridden } = mergeRepeatedMilestone(duplicate, input, command.at);
  const known = [
    ...unusual,
    ...(isFeedSource(input.source) ? createOverriddenValueWarnings(duplicate, { input, overridden }) : []),
  ];
  const isCurrentAgain = isOldEstimateRepeated(duplicate, input);
  const reported_at = computeReportTime(duplicate, { input, content, isCurrentAgain }, command.at);
  const isSame = !isCurrentAgain && (duplicate.by !== 'external_id' || isSameMilestoneContent(previous, content));
  if (isSame && reported_at === previous.reported_at && isSameMilestoneContent(previous, content)) {
    const events = createRepeatedMilestoneEvent(entry, overridden);
    const consequences = addConsequencesOfRepeatedMilestone(command.at, state, events, context);
    return { ...existing, ...consequences, warnings: [...known, ...cancelled] };
  }
  const replaced = reviseMilestone(previous, content, reported_at);
  const milestone = { ...replaced, ...(isCurrentAgain && { superseded_at: null }) };
  // A repetition that adds the `external_id` or a later time of the report corrects nothing.
  // The milestone keeps its revision.
  const restated = { ...milestone, revision: previous.revision };
  const formerReport = getReplacedEstimateReport(previous, { ...content, reported_at });
  const outcome = { previous, milestone: isSame ? restated : milestone, overridden, formerReport };
  const { isSuperseded: _, ...decided } = decideMilestone(command.at, state, outcome, context);
  const warnings = [...known, ...decided.warnings];
  return { ...existing, outcome: isSame ? 'existing' : 'corrected', ...decided, warnings };
}

/** Decides on a milestone that is not recorded yet. @throws DomainError `limit_exceeded` */
function decideNewMilestone(
  command: RecordMilestoneCommand,
  input: MilestoneInput,
  state: ShipmentState,
  context: DecideContext & { readonly unusual: readonly Warning[] },
): MilestoneDecision {
  throwIfInvalidFields(listMilestoneLimitErrors(state));
  const milestone = createMilestone(command, input, context);
  const outcome = { previous: undefined, milestone, overridden: NO_OVERRIDDEN_VALUES, formerReport: null };
  const { isSuperseded, ...decided } = decideMilestone(command.at, state, outcome, context);
  const outdated = isSuperseded ? [OUTDATED_REPORT_WARNING] : [];
  const warnings = [...context.unusual, ...outdated, ...decided.warnings];
  return { outcome: 'recorded', milestoneId: milestone.id, ...decided, warnings };
}

const OUTDATED_REPORT_WARNING: Warning = {
  code: 'outdated_report',
  param: null,
  message: 'A report that the source stated later is already recorded. It counts instead of this one.',
};

/** Adds the consequences of events that correct nothing. Without events, nothing changes. */
function addConsequencesOfRepeatedMilestone(
  at: Timestamp,
  state: ShipmentState,
  events: readonly ShipmentEventBody[],
  context: DecideContext,
): Pick<Decision, 'events' | 'nextCheckAt'> {
  if (events.length === 0) return { events, nextCheckAt: state.nextCheckAt };
  const timeline = state.timeline.slice();
  for (const { type, data } of events) {
    const changes = findStoredEventDescriptor(type).milestoneChanges?.(data);
    if (changes !== undefined) insertMilestone(timeline, { ...changes, at }, state.record.version);
  }
  return addEventsOfDerivedChanges(at, { ...state, timeline }, events, context);
}

/**
 * Returns true if a repeated milestone becomes current again, which happens if a person posts a superseded estimate
 * again. The repetition of a feed does not count, because feeds resend everything.
 */
function isOldEstimateRepeated({ entry, by }: RepeatedMilestone, { source, reported_at }: MilestoneInput): boolean {
  const { classifier, superseded_at } = entry.milestone;
  const isSuperseded = classifier === 'estimated' && superseded_at !== null;
  return by === 'content' && !isFeedSource(source) && isSuperseded && reported_at === null;
}

function createMilestone(command: RecordMilestoneCommand, input: MilestoneInput, context: DecideContext): Milestone {
  return {
    id: context.newId('mst', 0),
    shipment_id: command.shipment_id,
    ...addCatalogLabelAndSequence(input),
    reported_at: input.reported_at ?? command.at,
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
 * @param reported_at time of the report with the new content
 */
export function reviseMilestone(previous: Milestone, content: MilestoneContent, reported_at: Timestamp): Milestone {
  const superseded_at = isSameEventAndTime(previous, content) ? previous.superseded_at : null;
  const revision = previous.revision + 1;
  return { ...previous, ...addCatalogLabelAndSequence(content), reported_at, superseded_at, revision };
}

interface MergedMilestone {
  readonly content: MilestoneContent;
  readonly overridden: Overridden;
}

/**
 * Merges a milestone that a client sent again. Returns the content, and the values of the feed that values of a person
 * override.
 */
function mergeRepeatedMilestone(
  { entry, by }: RepeatedMilestone,
  { reported_at, ...input }: MilestoneInput,
  at: Timestamp,
): MergedMilestone {
  const content = pickFieldsSetBySender(entry.milestone);
  if (by === 'overridden') return { content, overridden: entry.overridden };
  if (by === 'content') {
    // A milestone without an `external_id` receives the `external_id` of its repetition.
    const external_id = content.external_id ?? input.external_id;
    return { content: { ...content, external_id }, overridden: entry.overridden };
  }
  if (!isFeedSource(input.source))
    return { content: input, overridden: findOverriddenFeedValues(input, getMilestoneAsLastSent(entry)) };
  if (isEstimateOfEventRecordedByHand(entry, input)) return { content, overridden: entry.overridden };
  const news = mergeResentFields(entry, input);
  const last = getMilestoneAsLastSent(entry);
  const isSame = isSameEventAndTime(last, input);
  const reported = reported_at ?? (isSame ? last.reported_at : chooseLatestTime(at, last.reported_at));
  return { content: news, overridden: findOverriddenFeedValues(news, { ...input, reported_at: reported }) };
}

/** Returns warnings for a feed whose values are overridden by values of a person. */
function createOverriddenValueWarnings(
  { entry, by }: RepeatedMilestone,
  { input, overridden }: { readonly input: MilestoneInput; readonly overridden: Overridden },
): readonly Warning[] {
  const { id, retracted_at } = entry.milestone;
  const fields = listOverriddenFields(overridden);
  if (retracted_at === null && fields.length === 0) return [];
  // The feed sends the same values that the person has set.
  if (by === 'content' && !isFeedRepeatOfCorrectedMilestone(entry, input)) return [];
  const message =
    retracted_at === null
      ? `Milestone ${id} was corrected by hand. Your values for ${fields.join(', ')} do not replace the correction.`
      : `Milestone ${id} was retracted. Your repetition of it was not recorded.`;
  return [{ code: 'overridden_by_user', param: null, message }];
}

function listMilestoneLimitErrors({ timeline }: ShipmentState): readonly FieldError[] {
  const { milestones, milestonesWithSuperseded } = SHIPMENT_LIMITS;
  const superseded = timeline.filter(({ milestone }) => isSupersededEstimate(milestone)).length;
  if (timeline.length - superseded < milestones && timeline.length < milestonesWithSuperseded) return [];
  const message = `A shipment can have at most ${milestones} milestones, not counting superseded estimates.`;
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
 * Adds the label and sequence of the catalog to the content.
 * @throws Error for an unknown code, which the check refuses earlier
 */
function addCatalogLabelAndSequence(
  content: MilestoneContent,
): MilestoneContent & Pick<Milestone, 'label' | 'sequence'> {
  const entry = parseMilestoneCode(content.code);
  if (entry === undefined) throw new Error(`${content.code} passed the check, but the catalog does not contain it`);
  return { ...content, label: entry.label, sequence: entry.sequence };
}

export function createMilestoneAnswer(
  { milestoneId, droppedMilestone }: Pick<RecordMilestoneResult, 'milestoneId' | 'droppedMilestone'>,
  after: ShipmentState,
) {
  const milestone = droppedMilestone ?? findMilestone(after, milestoneId);
  if (milestone === undefined) throw new Error(`cannot build the answer: the shipment has no milestone ${milestoneId}`);
  return { milestone, shipment_version: after.record.version };
}

/** Returns the ports of the shipment and its legs. A milestone may spell these ports in any form. */
export function listPortsOfShipment({
  origin_port,
  destination_port,
  legs,
}: ShipmentRecord): readonly (string | null)[] {
  return [origin_port, destination_port, ...legs.flatMap((leg) => [leg.origin_port, leg.destination_port])];
}

export function checkContainerExists(
  { container_number }: Pick<MilestoneInput, 'container_number'>,
  { container_numbers }: ShipmentRecord,
): readonly FieldError[] {
  if (container_number === null || container_numbers.includes(container_number)) return [];
  const message = `The shipment has no container ${container_number}.`;
  return [{ param: 'container_number', code: 'unknown_container', message }];
}

export function createUnusualCodeWarnings(code: string, { mode }: ShipmentRecord): readonly Warning[] {
  if (mode === null || parseMilestoneCode(code)?.modes.includes(mode) !== false) return [];
  return [
    { code: 'code_unusual_for_mode', param: 'code', message: `${code} is unusual for shipments with mode ${mode}.` },
  ];
}
