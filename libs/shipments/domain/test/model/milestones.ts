import { type Timestamp, findMilestoneCode } from '@tracking/contracts';
import type { MilestoneInput } from '../../src/index.ts';
import { isSuperseded } from './estimates.ts';
import type { Memory, Said } from './memory.ts';

/** What is to become of a milestone that is posted. */
export type Expected =
  | { readonly outcome: 'refused'; readonly code: string }
  | { readonly outcome: 'recorded' }
  /** One of these is corrected, or known already. */
  | { readonly outcome: 'corrected' | 'existing'; readonly ids: readonly string[] };

export function expectedOf(input: MilestoneInput, memory: Memory): Expected {
  // "A `container_number` that is not the shipment's: 400."
  if (input.container_number !== null && !memory.fields.container_numbers.includes(input.container_number)) {
    return { outcome: 'refused', code: 'unknown_container' };
  }
  // "Same `external_id` within the shipment → 200, same id, `revision` + 1 when anything differs, else untouched."
  const named = memory.milestones.find(
    ({ external_id, retracted }) => !retracted && external_id !== null && external_id === input.external_id,
  );
  if (named !== undefined) return { outcome: differs(named, input) ? 'corrected' : 'existing', ids: [named.id] };
  const known = memory.milestones.filter((milestone) => isKnown(milestone, input, memory));
  return known.length === 0 ? { outcome: 'recorded' } : { outcome: 'existing', ids: known.map(({ id }) => id) };
}

/**
 * "Else the same code + time + container + location + source, where at least one of the two has no `external_id`, answers
 * 200 with the one that exists." "A superseded estimate that a feed repeats is known; one that a person repeats is new."
 */
function isKnown(milestone: Said, input: MilestoneInput, memory: Memory): boolean {
  const alike = (['classifier', 'code', 'occurred_at', 'container_number', 'location', 'source'] as const).every(
    (field) => milestone[field] === input[field],
  );
  const nameless = milestone.external_id === null || input.external_id === null;
  const saidAnew = input.source === 'manual' && isSuperseded(milestone, memory);
  return alike && nameless && !milestone.retracted && !saidAnew;
}

function differs(milestone: Said, input: MilestoneInput): boolean {
  return (Object.keys(input) as (keyof MilestoneInput)[]).some((field) => milestone[field] !== input[field]);
}

export function record(input: MilestoneInput, id: string, at: Timestamp, memory: Memory): void {
  const sequence = findMilestoneCode(input.code)?.sequence ?? 0;
  const { now } = memory;
  const said = { ...input, id, sequence, recorded_at: at, recorded: now, said: now, revision: 1, retracted: false };
  memory.milestones = [...memory.milestones, said];
}

/** "Same id, `revision` + 1." */
export function correct(input: MilestoneInput, id: string, memory: Memory): void {
  change(id, memory, (old) => ({
    ...old,
    ...input,
    sequence: findMilestoneCode(input.code)?.sequence ?? 0,
    revision: old.revision + 1,
    recorded: input.classifier === 'actual' && old.classifier !== 'actual' ? memory.now : old.recorded,
    said: saysAnew(old, input) ? memory.now : old.said,
  }));
}

/** Its kind, time or place: a correction of a note alone is no new statement. */
function saysAnew(old: Said, input: MilestoneInput): boolean {
  return (['classifier', 'code', 'occurred_at', 'container_number', 'location', 'source'] as const).some(
    (field) => old[field] !== input[field],
  );
}

/** "It takes the `external_id` if it had none." */
export function takeName(input: MilestoneInput, id: string, memory: Memory): void {
  change(id, memory, (old) => ({ ...old, external_id: old.external_id ?? input.external_id }));
}

export function change(id: string, memory: Memory, to: (old: Said) => Said): void {
  memory.milestones = memory.milestones.map((milestone) => (milestone.id === id ? to(milestone) : milestone));
}
