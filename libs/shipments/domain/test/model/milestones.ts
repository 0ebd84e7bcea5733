import { type Timestamp, findMilestoneCode } from '@tracking/contracts';
import type { MilestoneInput } from '../../src/index.ts';
import { isSuperseded } from './estimates.ts';
import type { Memory, ModelMilestone } from './memory.ts';

/** What is to become of a milestone that is posted. */
export type Expected = { readonly outcome: 'refused' } | { readonly outcome: 'recorded' } | Repetition;

/** One of these is corrected, or known already. */
interface Repetition {
  readonly outcome: 'corrected' | 'existing';
  readonly by: 'external_id' | 'content' | 'last_sent';
  readonly ids: readonly string[];
  /** Those of which a warning tells that a person's word stands against it. */
  readonly overridden: readonly string[];
}

export function expectedOutcome(input: MilestoneInput, memory: Memory): Expected {
  // "A `container_number` that is not the shipment's: 400."
  if (isUnknownContainer(input.container_number, memory)) return { outcome: 'refused' };
  const resent = idsOf(memory.milestones.filter((milestone) => repeatsLastSent(milestone, input)));
  const isResent = { outcome: 'existing', by: 'last_sent', ids: resent, overridden: resent } as const;
  // "Same `external_id` within the shipment → 200, same id, `revision` + 1 when anything differs, else untouched."
  const named = findByExternalId(input, memory);
  // "A person's correction must outlive it": so does what a person put in the place of what the feed repeats.
  if (named?.sent === null && resent.length > 0) return isResent;
  if (named !== undefined) {
    const content = newContent(input, named);
    const overridden = isFeed(input) && differs(content, input) ? [named.id] : [];
    const outcome = differs(named, content) ? 'corrected' : 'existing';
    return { outcome, by: 'external_id', ids: [named.id], overridden };
  }
  const known = memory.milestones.filter((milestone) => isRepetition(milestone, input));
  const current = known.filter((milestone) => !isSuperseded(milestone, memory));
  const found = { by: 'content', ids: idsOf(current.length > 0 ? current : known), overridden: resent } as const;
  // "One that a person repeats is the current one again."
  if (known.length > 0) return { ...found, outcome: current.length > 0 || isFeed(input) ? 'existing' : 'corrected' };
  if (resent.length > 0) return isResent;
  return { outcome: 'recorded' };
}

const idsOf = (milestones: readonly ModelMilestone[]): readonly string[] => milestones.map(({ id }) => id);

export function isUnknownContainer(number: string | null | undefined, { fields }: Memory): boolean {
  return number != null && !fields.container_numbers.includes(number);
}

const isFeed = ({ source }: MilestoneInput): boolean => source !== 'manual';

/** A feed knows a milestone by the `external_id` that it sent, too, whatever a person made of that. */
function findByExternalId(input: MilestoneInput, memory: Memory): ModelMilestone | undefined {
  const { external_id } = input;
  if (external_id === null) return undefined;
  const standing = memory.milestones.filter(({ retracted }) => !retracted);
  const bySent = isFeed(input) ? standing.find(({ sent }) => sent?.external_id === external_id) : undefined;
  return standing.find((milestone) => milestone.external_id === external_id) ?? bySent;
}

/**
 * "Else the same code + time + container + location + source, where at least one of the two has no `external_id`, answers
 * 200 with the one that exists."
 */
function isRepetition(milestone: ModelMilestone, input: MilestoneInput): boolean {
  const nameless = milestone.external_id === null || input.external_id === null;
  return isSameStatement(milestone, input) && nameless && !milestone.retracted;
}

/**
 * "From any other source, what repeats a retracted or hand-corrected milestone as the feed last sent it (same `external_id`,
 * or same code, time, container, location and source) answers 200 with that milestone unchanged." "A value that is new for the
 * feed counts": so it does when the `external_id` of a retracted one comes with another time.
 */
function repeatsLastSent(milestone: ModelMilestone, input: MilestoneInput): boolean {
  const { sent, retracted } = milestone;
  if (sent === null || !isFeed(input) || !(retracted || differs(milestone, sent))) return false;
  const { external_id } = sent;
  const isToldApart = external_id !== null && input.external_id !== null && external_id !== input.external_id;
  return isSameStatement(sent, input) && !isToldApart;
}

const STATEMENT = ['classifier', 'code', 'occurred_at', 'container_number', 'location', 'source'] as const;

function isSameStatement(a: MilestoneInput, b: MilestoneInput): boolean {
  return STATEMENT.every((field) => a[field] === b[field]);
}

function differs(milestone: MilestoneInput, input: MilestoneInput): boolean {
  return COMPARED.some((field) => milestone[field] !== input[field]);
}
/** All that a sender chooses; the time zone follows the place here. */
const COMPARED = [...STATEMENT, 'external_id', 'note', 'reason_code', 'vessel', 'voyage'] as const;

/** "A person's correction must outlive it": that it happened outlives whatever else the feed expects. */
function isStillEstimated(input: MilestoneInput, { classifier, sent }: ModelMilestone): boolean {
  const saidByHand = classifier === 'actual' && sent !== null && sent.classifier !== 'actual';
  return saidByHand && isFeed(input) && input.classifier !== 'actual';
}

/**
 * "A person's correction must outlive [what feeds resend]. A value that is new for the feed counts." When and whether it
 * happened, and who says so, are one value.
 */
function newContent(input: MilestoneInput, milestone: ModelMilestone): MilestoneInput {
  const { sent } = milestone;
  if (!isFeed(input) || sent === null) return input;
  if (isStillEstimated(input, milestone)) return milestone;
  const isNew = (...fields: (keyof MilestoneInput)[]) => fields.some((field) => input[field] !== sent[field]);
  const chosen = COMPARED.map((field) => {
    const together = field === 'occurred_at' || field === 'classifier' || field === 'source';
    const time = together && isNew('occurred_at', 'classifier');
    return [field, time || isNew(field) ? input[field] : milestone[field]] as const;
  });
  return { ...input, ...Object.fromEntries(chosen) };
}

export function record(input: MilestoneInput, id: string, at: Timestamp, memory: Memory): void {
  const sequence = findMilestoneCode(input.code)?.sequence ?? 0;
  const { now } = memory;
  const sent = isFeed(input) ? input : null;
  const said = { id, sequence, recorded_at: at, recorded: now, said: now, revision: 1, retracted: false, sent };
  memory.milestones = [...memory.milestones, { ...input, ...said }];
}

/** Posted again under its `external_id`. */
export function resend(input: MilestoneInput, id: string, memory: Memory): void {
  changeMilestone(id, memory, (old) => {
    const corrected = correct(old, newContent(input, old), memory);
    return { ...corrected, sent: isFeed(input) && !isStillEstimated(input, old) ? input : old.sent };
  });
}

/** "Same id, `revision` + 1 when anything differs." */
export function correct(old: ModelMilestone, content: MilestoneInput, { now }: Memory): ModelMilestone {
  if (!differs(old, content)) return old;
  return {
    ...old,
    ...content,
    sequence: findMilestoneCode(content.code)?.sequence ?? 0,
    revision: old.revision + 1,
    recorded: content.classifier === 'actual' && old.classifier !== 'actual' ? now : old.recorded,
    // A correction of a note alone is no new statement.
    said: isSameStatement(old, content) ? old.said : now,
  };
}

/** "It takes the `external_id` if it had none." What was overridden stays as it is. */
export function takeExternalId({ external_id }: MilestoneInput, id: string, memory: Memory): void {
  changeMilestone(id, memory, (old) => {
    const sent = old.sent && { ...old.sent, external_id: old.sent.external_id ?? external_id };
    return { ...old, external_id: old.external_id ?? external_id, sent };
  });
}

/** A superseded estimate is said once more: it is the newest then. */
export function makeCurrentAgain(id: string, memory: Memory): void {
  changeMilestone(id, memory, (old) => ({ ...old, said: memory.now, revision: old.revision + 1 }));
}

export function changeMilestone(id: string, memory: Memory, to: (old: ModelMilestone) => ModelMilestone): void {
  memory.milestones = memory.milestones.map((milestone) => (milestone.id === id ? to(milestone) : milestone));
}
