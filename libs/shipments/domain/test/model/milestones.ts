import { type Timestamp, parseMilestoneCode } from '@tracking/contracts';
import type { MilestoneInput } from '../../src/index.ts';
import { convertDayToUtcAtPlace, getTimeAsSent } from './days.ts';
import { isEstimateSuperseded } from './estimates.ts';
import type { ShipmentModelState, ModelMilestone, EstimateReportInModel } from './memory.ts';
import { isLaterReport } from './reports.ts';

/** The expected outcome of a posted milestone. */
export type Expected = { readonly outcome: 'refused' } | { readonly outcome: 'recorded' } | ExpectedMilestoneRepetition;

/** Milestones of which one is corrected, or was recorded before. */
interface ExpectedMilestoneRepetition {
  readonly outcome: 'corrected' | 'existing';
  readonly by: 'external_id' | 'content' | 'last_sent';
  readonly ids: readonly string[];
  /** Milestones for which a warning reports that a person's value overrides the feed's value. */
  readonly overridden: readonly string[];
  /** True if a later report is known. */
  readonly isOutdated?: boolean;
}

export function computeExpectedMilestoneOutcome(input: MilestoneInput, memory: ShipmentModelState): Expected {
  // Returns true if the shipment does not have the container, so that the milestone is refused with 400.
  if (isUnknownContainer(input.container_number, memory) || isActualWithDayPrecision(input))
    return { outcome: 'refused' };
  const resent = listMilestoneIds(
    memory.milestones.filter((milestone) => isFeedRepeatOfChangedMilestone(milestone, input)),
  );
  const isResent = { outcome: 'existing', by: 'last_sent', ids: resent, overridden: resent } as const;
  // Finds the milestone with the same `external_id`. It is corrected if any field differs, otherwise unchanged.
  const named = findMilestoneByExternalId(input, memory);
  // If a person's milestone replaced a milestone of a feed, it stays when the feed repeats its milestone.
  if (named?.sent === null && resent.length > 0) return isResent;
  if (named !== undefined) {
    if (isReportOlderThanMilestone(input, named))
      return { outcome: 'existing', by: 'external_id', ids: [named.id], overridden: [], isOutdated: true };
    const content = mergeRepeatedMilestoneContent(input, named);
    const overridden = isFeedSource(input) && hasDifferentMilestoneContent(content, input) ? [named.id] : [];
    const outcome = hasDifferentMilestoneContent(named, content) ? 'corrected' : 'existing';
    return { outcome, by: 'external_id', ids: [named.id], overridden };
  }
  const known = memory.milestones.filter((milestone) => isRepeatedMilestone(milestone, input));
  const current = known.filter((milestone) => !isEstimateSuperseded(milestone, memory));
  const found = {
    by: 'content',
    ids: listMilestoneIds(current.length > 0 ? current : known),
    overridden: resent,
  } as const;
  const [repeated] = current.length > 0 ? current : known;
  if (repeated !== undefined && isReportOlderThanMilestone(input, repeated))
    return { ...found, outcome: 'existing', overridden: [], isOutdated: true };
  // A superseded estimate that a person repeats becomes current again.
  const isKept = current.length > 0 || isFeedSource(input) || input.reported_at !== null;
  if (known.length > 0) return { ...found, outcome: isKept ? 'existing' : 'corrected' };
  if (resent.length > 0) return isResent;
  return { outcome: 'recorded' };
}

const listMilestoneIds = (milestones: readonly ModelMilestone[]): readonly string[] => milestones.map(({ id }) => id);

export function isUnknownContainer(number: string | null | undefined, { fields }: ShipmentModelState): boolean {
  return number != null && !fields.container_numbers.includes(number);
}

/** Returns true if an actual milestone has a date instead of a time, which is refused. */
export function isActualWithDayPrecision({ classifier, occurred_at_precision }: Content): boolean {
  return classifier === 'actual' && occurred_at_precision === 'day';
}

const isFeedSource = ({ source }: MilestoneInput): boolean => source !== 'manual';

/** A feed also finds a milestone by the `external_id` that it sent, even if a person has changed that id. */
function findMilestoneByExternalId(input: MilestoneInput, memory: ShipmentModelState): ModelMilestone | undefined {
  const { external_id } = input;
  if (external_id === null) return undefined;
  const standing = memory.milestones.filter(({ retracted }) => !retracted);
  const isSame = (other: MilestoneInput | null) =>
    other?.external_id === external_id && other.container_number === input.container_number;
  const bySent = isFeedSource(input) ? standing.find(({ sent }) => isSame(sent)) : undefined;
  return standing.find(isSame) ?? bySent;
}

/**
 * Returns true if the milestones have the same code, time, container, location and source, and at most one has an
 * `external_id`.
 */
function isRepeatedMilestone(milestone: ModelMilestone, input: MilestoneInput): boolean {
  const nameless = milestone.external_id === null || input.external_id === null;
  // An estimate that is stated again at another time is another report.
  const isOther = input.classifier === 'estimated' && ![null, milestone.reported].includes(input.reported_at);
  return areReportsOfSameEventAndTime(milestone, input) && nameless && !milestone.retracted && !isOther;
}

/** Returns the last report of the sender: that of the feed if a person has changed the milestone since. */
function findLastReportOfSender(input: MilestoneInput, milestone: ModelMilestone) {
  const { sent } = milestone;
  return isFeedSource(input) && sent !== null && hasDifferentMilestoneContent(milestone, sent) ? sent : milestone;
}

/** Returns true if the source stated the milestone later than the posted report. */
function isReportOlderThanMilestone(input: MilestoneInput, milestone: ModelMilestone): boolean {
  if (input.reported_at === null) return false;
  const last = findLastReportOfSender(input, milestone);
  return isLaterReport(
    { ...last, location: null, id: '' },
    { ...input, reported: input.reported_at, location: null, id: '' },
  );
}

/**
 * Returns true if a feed repeats a retracted or corrected milestone as it last sent it: with the same code, time,
 * container, location and source, under any `external_id`. Such a repetition changes nothing. A value that is new for
 * the feed applies.
 */
function isFeedRepeatOfChangedMilestone(milestone: ModelMilestone, input: MilestoneInput): boolean {
  const { sent, retracted } = milestone;
  if (sent === null || !isFeedSource(input) || !(retracted || hasDifferentMilestoneContent(milestone, sent)))
    return false;
  return areReportsOfSameEventAndTime(sent, input);
}

const FIELDS_IDENTIFYING_SAME_EVENT = [
  ...(['classifier', 'code', 'occurred_at', 'occurred_at_precision'] as const),
  ...(['container_number', 'location', 'source'] as const),
] as const;

type Content = Omit<MilestoneInput, 'reported_at'>;

function areReportsOfSameEventAndTime(a: Content, b: Content): boolean {
  return FIELDS_IDENTIFYING_SAME_EVENT.every((field) => a[field] === b[field]);
}

function hasDifferentMilestoneContent(milestone: Content, input: Content): boolean {
  return COMPARED_FIELDS_SET_BY_SENDER.some((field) => milestone[field] !== input[field]);
}
/** Fields that a sender sets. In the model, the time zone depends on the place. */
const COMPARED_FIELDS_SET_BY_SENDER = [
  ...FIELDS_IDENTIFYING_SAME_EVENT,
  'external_id',
  'note',
  'reason_code',
  'vessel',
  'voyage',
] as const;

/** Returns true if a person's actual milestone stays although the feed still sends an estimate. */
function isManualActualKeptDespiteFeedEstimate(input: MilestoneInput, { classifier, sent }: ModelMilestone): boolean {
  const saidByHand = classifier === 'actual' && sent !== null && sent.classifier !== 'actual';
  return saidByHand && isFeedSource(input) && input.classifier !== 'actual';
}

/**
 * Returns the content after a feed's repetition. A person's correction stays, and a value that is new for the feed
 * applies. Classifier, time and source count as one value.
 */
function mergeRepeatedMilestoneContent(input: MilestoneInput, milestone: ModelMilestone): MilestoneInput {
  const { sent } = milestone;
  if (!isFeedSource(input) || sent === null) return input;
  if (isManualActualKeptDespiteFeedEstimate(input, milestone)) return milestone;
  const isNew = (...fields: (keyof MilestoneInput)[]) => fields.some((field) => input[field] !== sent[field]);
  const chosen = COMPARED_FIELDS_SET_BY_SENDER.map((field) => {
    const together = ['occurred_at', 'occurred_at_precision', 'classifier', 'source'].includes(field);
    const time = together && isNew('occurred_at', 'occurred_at_precision', 'classifier');
    return [field, time || isNew(field) ? input[field] : milestone[field]] as const;
  });
  const content = { ...input, ...Object.fromEntries(chosen) } as MilestoneInput;
  // A new day of the feed is that day at the place that a person set.
  return isNew('occurred_at', 'occurred_at_precision', 'classifier')
    ? convertDayToUtcAtPlace({ ...content, occurred_at: getTimeAsSent(input) })
    : content;
}

export function addMilestoneToModelState(
  input: MilestoneInput,
  id: string,
  at: Timestamp,
  memory: ShipmentModelState,
): void {
  const sequence = parseMilestoneCode(input.code)?.sequence ?? 0;
  const { now } = memory;
  const reported = input.reported_at ?? at;
  const sent = isFeedSource(input) ? { ...input, reported } : null;
  const said = { id, sequence, recorded_at: at, recorded: now, said: now, revision: 1, retracted: false, sent };
  memory.milestones = [...memory.milestones, { ...input, ...said, reported, former: [] }];
}

const getTimeOfLastCommand = ({ times, now }: ShipmentModelState): Timestamp => times[now] ?? '';
const chooseLatestTime = (a: Timestamp, b: Timestamp): Timestamp => (a > b ? a : b);

/** Posts a milestone again with its `external_id`. */
export function applyRepeatedMilestonePostToModelState(
  input: MilestoneInput,
  id: string,
  memory: ShipmentModelState,
): void {
  replaceMilestoneInModel(id, memory, (old) => {
    const content = mergeRepeatedMilestoneContent(input, old);
    const isSame = areReportsOfSameEventAndTime(old, content);
    const at = getTimeOfLastCommand(memory);
    const reported =
      isSame && input.reported_at === null
        ? old.reported
        : isSame
          ? chooseLatestTime(input.reported_at ?? '', old.reported)
          : (input.reported_at ?? chooseLatestTime(at, old.reported));
    const former = isSame && reported === old.reported ? old.former : listFormerReports(old);
    const corrected = { ...correctMilestone(old, content, memory), reported, former };
    const isKept =
      !isFeedSource(input) || (isManualActualKeptDespiteFeedEstimate(input, old) && old.classifier === 'actual');
    if (isKept) return { ...corrected, sent: old.sent };
    const last = findLastReportOfSender(input, old);
    const again = areReportsOfSameEventAndTime(last, input) ? last.reported : chooseLatestTime(at, last.reported);
    return { ...corrected, sent: { ...input, reported: input.reported_at ?? again } };
  });
}

/** Returns the former reports of an estimate after another report replaced the present one. */
function listFormerReports(old: ModelMilestone): readonly EstimateReportInModel[] {
  const { classifier, code, occurred_at, occurred_at_precision, location, reported, former } = old;
  const report = { code, occurred_at, occurred_at_precision, location, reported };
  return classifier === 'estimated' ? [...former, report] : former;
}

/** Stores an estimate that was reported before the present report of its milestone. */
export function storeFormerEstimateReport(input: MilestoneInput, id: string, memory: ShipmentModelState): void {
  const { classifier, external_id, code, occurred_at, occurred_at_precision, location, reported_at } = input;
  if (classifier !== 'estimated' || external_id === null || reported_at === null) return;
  replaceMilestoneInModel(id, memory, (old) => ({
    ...old,
    former: [...old.former, { code, occurred_at, occurred_at_precision, location, reported: reported_at }],
  }));
}

/** States an actual milestone again at a later time. */
export function restateActualMilestoneInModelState(
  { reported_at }: MilestoneInput,
  id: string,
  memory: ShipmentModelState,
): void {
  replaceMilestoneInModel(id, memory, (old) => ({
    ...old,
    reported: chooseLatestTime(reported_at ?? '', old.reported),
  }));
}

/** Corrects a milestone by hand, at the time of the command. */
export function correctModelMilestoneByHand(
  old: ModelMilestone,
  content: Content,
  memory: ShipmentModelState,
): ModelMilestone {
  const corrected = correctMilestone(old, content, memory);
  if (areReportsOfSameEventAndTime(old, content)) return corrected;
  const isUndone = old.sent !== null && !hasDifferentMilestoneContent(content, old.sent);
  const reported =
    isUndone && old.sent !== null ? old.sent.reported : chooseLatestTime(getTimeOfLastCommand(memory), old.reported);
  return { ...corrected, reported };
}

/** Corrects a milestone. Its id stays the same, and its `revision` increases by 1 if any field differs. */
function correctMilestone(old: ModelMilestone, content: Content, { now }: ShipmentModelState): ModelMilestone {
  if (!hasDifferentMilestoneContent(old, content)) return old;
  return {
    ...old,
    ...content,
    sequence: parseMilestoneCode(content.code)?.sequence ?? 0,
    revision: old.revision + 1,
    recorded: content.classifier === 'actual' && old.classifier !== 'actual' ? now : old.recorded,
    // A correction of only the note is not a new statement.
    said: areReportsOfSameEventAndTime(old, content) ? old.said : now,
  };
}

/** Gives the milestone the `external_id` if it has none. Overridden values stay. */
export function addExternalIdIfMissing({ external_id }: MilestoneInput, id: string, memory: ShipmentModelState): void {
  replaceMilestoneInModel(id, memory, (old) => {
    const sent = old.sent && { ...old.sent, external_id: old.sent.external_id ?? external_id };
    return { ...old, external_id: old.external_id ?? external_id, sent };
  });
}

/** Makes a superseded estimate current again. It is then the newest estimate. */
export function makeEstimateCurrentAgain(id: string, memory: ShipmentModelState): void {
  replaceMilestoneInModel(id, memory, (old) => {
    const reported = chooseLatestTime(getTimeOfLastCommand(memory), old.reported);
    const former = reported === old.reported ? old.former : listFormerReports(old);
    return { ...old, said: memory.now, reported, former, revision: old.revision + 1 };
  });
}

export function replaceMilestoneInModel(
  id: string,
  memory: ShipmentModelState,
  to: (old: ModelMilestone) => ModelMilestone,
): void {
  memory.milestones = memory.milestones.map((milestone) => (milestone.id === id ? to(milestone) : milestone));
}
