import {
  type FieldError,
  type Milestone,
  type ShipmentRecord,
  type Timestamp,
  type Warning,
  findMilestoneCode,
} from '@tracking/contracts';
import { changesBetween, lastBetween } from '../changes.ts';
import type { MilestoneInput } from '../check-milestone.ts';
import { etaBeforeEtd } from '../check-shipment.ts';
import { whileCancelled } from '../decision.ts';
import { changedBy, derive } from '../derive.ts';
import type { LastMilestones, Overridden } from '../events/event-data.ts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import { reconcile } from '../exceptions/reconcile.ts';
import { type ShipmentState, findMilestone } from '../state.ts';
import { putMilestone, restoredBy, supersededBy } from '../timeline.ts';
import type { DecideContext, Decision } from './command.ts';

/** What all commands about one milestone answer. */
export interface MilestoneAnswer {
  readonly milestone: Milestone;
  /** Of the shipment right after. */
  readonly shipment_version: number;
  readonly warnings: readonly Warning[];
}

/** What comes of a milestone by a command: recorded without `previous`, retracted or corrected with it. */
export interface MilestoneOutcome {
  readonly previous: Milestone | undefined;
  readonly milestone: Milestone;
  readonly overridden: Overridden;
}

/** The events of a milestone that is recorded, corrected or retracted: itself, what it moves, and exceptions. */
export function decideMilestone(
  at: Timestamp,
  state: ShipmentState,
  outcome: MilestoneOutcome,
  context: DecideContext,
): Pick<Decision, 'events' | 'nextCheckAt' | 'warnings'> {
  const { previous, milestone, overridden } = outcome;
  const before = state.record;
  const superseded = supersededBy(state.timeline, milestone);
  const restored = previous === undefined ? [] : restoredBy(state.timeline, previous, milestone);
  const timeline = state.timeline.slice();
  const revision = before.version;
  const changed = { milestone, isNew: previous === undefined, superseded, restored, at, overridden };
  putMilestone(timeline, changed, revision);
  const derived = derive({ ...state, timeline, revision }, context.places);

  const last = lastBetween(before, derived.record);
  const events = [eventOf(outcome, { supersedes: superseded, restores: restored, last })];
  const changes = changesBetween(before, derived.record);
  if (previous?.classifier === 'actual') {
    const to = milestone.retracted_at === null ? milestone : null;
    events.push(changedBy({ ...changes, milestone: { from: previous, to } }, derived));
  } else if (changes !== undefined) {
    events.push(changedBy(changes, derived));
  }
  const warnings = [...whereArrivalCrossed(before, derived.record), ...whileCancelled(before, derived.record)];
  return { warnings, ...reconcile(state, { derived, timeline, events }, { ...context, at }) };
}

/** One warning where an estimate moved `etd` or `eta`, of the shipment or of legs, so that `eta` comes first. */
function whereArrivalCrossed(before: ShipmentRecord, after: ShipmentRecord): readonly Warning[] {
  for (const [index, { etd, eta }] of [after, ...after.legs].entries()) {
    const was = index === 0 ? before : before.legs[index - 1];
    const crossed = was?.etd === etd && was.eta === eta ? undefined : etaBeforeEtd(null, etd, eta);
    if (crossed !== undefined) return [crossed];
  }
  return [];
}

interface Effects {
  readonly supersedes: readonly string[];
  readonly restores: readonly string[];
  readonly last: LastMilestones;
}

function eventOf({ previous, milestone, overridden }: MilestoneOutcome, effects: Effects): ShipmentEventBody {
  const { supersedes, restores, last } = effects;
  if (previous === undefined) return { type: 'milestone.recorded.v1', data: { milestone, supersedes, last } };
  if (milestone.retracted_at !== null) return { type: 'milestone.retracted.v1', data: { milestone, restores, last } };
  return { type: 'milestone.corrected.v1', data: { milestone, previous, ...effects, overridden } };
}

/** As its content is to be answered. @throws Error for a code that the check let pass without being in the catalog */
export function catalogued(content: MilestoneInput): MilestoneInput & Pick<Milestone, 'label' | 'sequence'> {
  const entry = findMilestoneCode(content.code);
  if (entry === undefined) throw new Error(`${content.code} passed the check without being in the catalog`);
  return { ...content, label: entry.label, sequence: entry.sequence };
}

export function answerMilestone({ milestoneId }: { readonly milestoneId: string }, after: ShipmentState) {
  const milestone = findMilestone(after, milestoneId);
  if (milestone === undefined) throw new Error(`there is no milestone ${milestoneId} to answer`);
  return { milestone, shipment_version: after.record.version };
}

/** Ports of the shipment: each is a place in whatever way a milestone writes it. */
export function portsKnownOf({ origin_port, destination_port, legs }: ShipmentRecord): readonly (string | null)[] {
  return [origin_port, destination_port, ...legs.flatMap((leg) => [leg.origin_port, leg.destination_port])];
}

export function unknownContainer(
  { container_number }: Pick<MilestoneInput, 'container_number'>,
  { container_numbers }: ShipmentRecord,
): readonly FieldError[] {
  if (container_number === null || container_numbers.includes(container_number)) return [];
  const message = `${container_number} is no container of this shipment.`;
  return [{ param: 'container_number', code: 'unknown_container', message }];
}

export function unusualForMode(code: string, { mode }: ShipmentRecord): readonly Warning[] {
  if (mode === null || findMilestoneCode(code)?.modes.includes(mode) !== false) return [];
  return [{ code: 'code_unusual_for_mode', param: 'code', message: `${code} is unusual for ${mode}.` }];
}
