import { type Timestamp, findMilestoneCode } from '@tracking/contracts';
import type { MilestoneInput } from '../../src/index.ts';
import { isSuperseded } from './estimates.ts';
import type { ModelMemory, ModelMilestone } from './memory.ts';

/** The expected outcome of a posted milestone. */
export type Expected = { readonly outcome: 'refused' } | { readonly outcome: 'recorded' } | Repetition;

/** Milestones of which one is corrected, or was recorded before. */
interface Repetition {
  readonly outcome: 'corrected' | 'existing';
  readonly by: 'external_id' | 'content' | 'last_sent';
  readonly ids: readonly string[];
  /** Milestones for which a warning reports that a person's value overrides the feed's value. */
  readonly overridden: readonly string[];
}

export function expectedOutcome(input: MilestoneInput, memory: ModelMemory): Expected {
  // Returns true if the shipment does not have the container, so that the milestone is refused with 400.
  if (isUnknownContainer(input.container_number, memory)) return { outcome: 'refused' };
  const resent = listIds(memory.milestones.filter((milestone) => repeatsLastSent(milestone, input)));
  const isResent = { outcome: 'existing', by: 'last_sent', ids: resent, overridden: resent } as const;
  // Finds the milestone with the same `external_id`. It is corrected if any field differs, otherwise unchanged.
  const named = findByExternalId(input, memory);
  // If a person's milestone replaced a milestone of a feed, it stays when the feed repeats its milestone.
  if (named?.sent === null && resent.length > 0) return isResent;
  if (named !== undefined) {
    const content = newContent(input, named);
    const overridden = isFeed(input) && hasDifferences(content, input) ? [named.id] : [];
    const outcome = hasDifferences(named, content) ? 'corrected' : 'existing';
    return { outcome, by: 'external_id', ids: [named.id], overridden };
  }
  const known = memory.milestones.filter((milestone) => isRepetition(milestone, input));
  const current = known.filter((milestone) => !isSuperseded(milestone, memory));
  const found = { by: 'content', ids: listIds(current.length > 0 ? current : known), overridden: resent } as const;
  // A superseded estimate that a person repeats becomes current again.
  if (known.length > 0) return { ...found, outcome: current.length > 0 || isFeed(input) ? 'existing' : 'corrected' };
  if (resent.length > 0) return isResent;
  return { outcome: 'recorded' };
}

const listIds = (milestones: readonly ModelMilestone[]): readonly string[] => milestones.map(({ id }) => id);

export function isUnknownContainer(number: string | null | undefined, { fields }: ModelMemory): boolean {
  return number != null && !fields.container_numbers.includes(number);
}

const isFeed = ({ source }: MilestoneInput): boolean => source !== 'manual';

/** A feed also finds a milestone by the `external_id` that it sent, even if a person has changed that id. */
function findByExternalId(input: MilestoneInput, memory: ModelMemory): ModelMilestone | undefined {
  const { external_id } = input;
  if (external_id === null) return undefined;
  const standing = memory.milestones.filter(({ retracted }) => !retracted);
  const bySent = isFeed(input) ? standing.find(({ sent }) => sent?.external_id === external_id) : undefined;
  return standing.find((milestone) => milestone.external_id === external_id) ?? bySent;
}

/**
 * Returns true if the milestones have the same code, time, container, location and source, and at most one has an
 * `external_id`.
 */
function isRepetition(milestone: ModelMilestone, input: MilestoneInput): boolean {
  const nameless = milestone.external_id === null || input.external_id === null;
  return isSameStatement(milestone, input) && nameless && !milestone.retracted;
}

/**
 * Returns true if a feed repeats a retracted or corrected milestone as it last sent it: with the same `external_id`, or
 * with the same code, time, container, location and source. Such a repetition changes nothing. A value that is new for
 * the feed applies.
 */
function repeatsLastSent(milestone: ModelMilestone, input: MilestoneInput): boolean {
  const { sent, retracted } = milestone;
  if (sent === null || !isFeed(input) || !(retracted || hasDifferences(milestone, sent))) return false;
  const { external_id } = sent;
  const isToldApart = external_id !== null && input.external_id !== null && external_id !== input.external_id;
  return isSameStatement(sent, input) && !isToldApart;
}

const STATEMENT_FIELDS = ['classifier', 'code', 'occurred_at', 'container_number', 'location', 'source'] as const;

function isSameStatement(a: MilestoneInput, b: MilestoneInput): boolean {
  return STATEMENT_FIELDS.every((field) => a[field] === b[field]);
}

function hasDifferences(milestone: MilestoneInput, input: MilestoneInput): boolean {
  return COMPARED_FIELDS.some((field) => milestone[field] !== input[field]);
}
/** Fields that a sender sets. In the model, the time zone depends on the place. */
const COMPARED_FIELDS = [...STATEMENT_FIELDS, 'external_id', 'note', 'reason_code', 'vessel', 'voyage'] as const;

/** Returns true if a person's actual milestone stays although the feed still sends an estimate. */
function isStillEstimated(input: MilestoneInput, { classifier, sent }: ModelMilestone): boolean {
  const saidByHand = classifier === 'actual' && sent !== null && sent.classifier !== 'actual';
  return saidByHand && isFeed(input) && input.classifier !== 'actual';
}

/**
 * Returns the content after a feed's repetition. A person's correction stays, and a value that is new for the feed
 * applies. Classifier, time and source count as one value.
 */
function newContent(input: MilestoneInput, milestone: ModelMilestone): MilestoneInput {
  const { sent } = milestone;
  if (!isFeed(input) || sent === null) return input;
  if (isStillEstimated(input, milestone)) return milestone;
  const isNew = (...fields: (keyof MilestoneInput)[]) => fields.some((field) => input[field] !== sent[field]);
  const chosen = COMPARED_FIELDS.map((field) => {
    const together = field === 'occurred_at' || field === 'classifier' || field === 'source';
    const time = together && isNew('occurred_at', 'classifier');
    return [field, time || isNew(field) ? input[field] : milestone[field]] as const;
  });
  return { ...input, ...Object.fromEntries(chosen) };
}

export function record(input: MilestoneInput, id: string, at: Timestamp, memory: ModelMemory): void {
  const sequence = findMilestoneCode(input.code)?.sequence ?? 0;
  const { now } = memory;
  const sent = isFeed(input) ? input : null;
  const said = { id, sequence, recorded_at: at, recorded: now, said: now, revision: 1, retracted: false, sent };
  memory.milestones = [...memory.milestones, { ...input, ...said }];
}

/** Posts a milestone again with its `external_id`. */
export function resend(input: MilestoneInput, id: string, memory: ModelMemory): void {
  changeMilestone(id, memory, (old) => {
    const corrected = correct(old, newContent(input, old), memory);
    return { ...corrected, sent: isFeed(input) && !isStillEstimated(input, old) ? input : old.sent };
  });
}

/** Corrects a milestone. Its id stays the same, and its `revision` increases by 1 if any field differs. */
export function correct(old: ModelMilestone, content: MilestoneInput, { now }: ModelMemory): ModelMilestone {
  if (!hasDifferences(old, content)) return old;
  return {
    ...old,
    ...content,
    sequence: findMilestoneCode(content.code)?.sequence ?? 0,
    revision: old.revision + 1,
    recorded: content.classifier === 'actual' && old.classifier !== 'actual' ? now : old.recorded,
    // A correction of only the note is not a new statement.
    said: isSameStatement(old, content) ? old.said : now,
  };
}

/** Gives the milestone the `external_id` if it has none. Overridden values stay. */
export function takeExternalId({ external_id }: MilestoneInput, id: string, memory: ModelMemory): void {
  changeMilestone(id, memory, (old) => {
    const sent = old.sent && { ...old.sent, external_id: old.sent.external_id ?? external_id };
    return { ...old, external_id: old.external_id ?? external_id, sent };
  });
}

/** Makes a superseded estimate current again. It is then the newest estimate. */
export function makeCurrentAgain(id: string, memory: ModelMemory): void {
  changeMilestone(id, memory, (old) => ({ ...old, said: memory.now, revision: old.revision + 1 }));
}

export function changeMilestone(id: string, memory: ModelMemory, to: (old: ModelMilestone) => ModelMilestone): void {
  memory.milestones = memory.milestones.map((milestone) => (milestone.id === id ? to(milestone) : milestone));
}
