import {
  type FieldError,
  type Milestone,
  type ShipmentRecord,
  type Warning,
  findMilestoneCode,
} from '@tracking/contracts';
import { changesBetween, lastBetween } from '../changes.ts';
import { type MilestoneInput, checkMilestone } from '../check-milestone.ts';
import { SHIPMENT_LIMITS } from '../check-shipment.ts';
import { refuseIfAny, whileCancelled } from '../decision.ts';
import { type Derived, derive } from '../derive.ts';
import type { Changes } from '../events/event-data.ts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import { reconcile } from '../exceptions/reconcile.ts';
import { type ShipmentState, findMilestone } from '../state.ts';
import { findDuplicate, isSameStatement, putMilestone, restoredBy, supersededBy } from '../timeline.ts';

import type { CommandContext, CommandHandler, DecideContext, Decision } from './command.ts';

/** Records a milestone, corrects the one that has its `external_id`, or finds that it is known already. */
export interface RecordMilestone extends CommandContext {
  readonly type: 'RecordMilestone';
  readonly shipment_id: string;
  readonly milestone: MilestoneInput;
}

interface RecordResult {
  /** `existing`: a duplicate, nothing recorded; it may have taken the `external_id`. */
  readonly outcome: 'recorded' | 'corrected' | 'existing';
  readonly milestoneId: string;
}
export interface RecordMilestoneAnswer extends Pick<RecordResult, 'outcome'> {
  readonly milestone: Milestone;
  /** Of the shipment right after. */
  readonly shipment_version: number;
  readonly warnings: readonly Warning[];
}
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
  answer({ outcome, milestoneId }, after) {
    const milestone = findMilestone(after, milestoneId);
    if (milestone === undefined) throw new Error(`there is no milestone ${milestoneId} to answer`);
    return { outcome, milestone, shipment_version: after.record.version };
  },
};

function decide(command: RecordMilestone, state: ShipmentState, context: DecideContext): MilestoneDecision {
  const before = state.record;
  const checked = checkMilestone(command.milestone, context.places, command.at, portsKnownOf(before));
  const input = checked.milestone;
  refuseIfAny([...checked.errors, ...unknownContainer(input, before)]);

  const duplicate = findDuplicate(state.timeline, input);
  const warnings = unusualForMode(input.code, before);
  if (duplicate !== undefined && (duplicate.by === 'content' || isSameContent(duplicate.milestone, input))) {
    return {
      outcome: 'existing',
      milestoneId: duplicate.milestone.id,
      events: taking(input.external_id, duplicate.milestone),
      warnings: [...warnings, ...whileCancelled(before, before)],
      nextCheckAt: null,
    };
  }
  const previous = duplicate?.milestone;
  if (previous === undefined) refuseIfAny(tooMany(state));

  const milestone = previous === undefined ? recorded(command, input, context) : corrected(previous, input);
  const superseded = supersededBy(state.timeline, milestone);
  const restored = previous === undefined ? [] : restoredBy(state.timeline, previous, milestone);
  const timeline = state.timeline.slice();
  const revision = before.version;
  putMilestone(timeline, { milestone, isNew: previous === undefined, superseded, restored, at: command.at }, revision);
  const derived = derive({ ...state, timeline, revision }, context.places);

  const last = lastBetween(before, derived.record);
  const events: ShipmentEventBody[] = [
    previous === undefined
      ? { type: 'milestone.recorded.v1', data: { milestone, supersedes: superseded, last } }
      : {
          type: 'milestone.corrected.v1',
          data: { milestone, previous, supersedes: superseded, restores: restored, last },
        },
  ];
  const changes = changesOf(before, derived, previous, milestone);
  if (changes !== undefined) events.push({ type: 'shipment.changed.v1', data: { changes } });
  events.push(...reconcile(state, derived, timeline, { ...context, at: command.at }));
  return {
    outcome: previous === undefined ? 'recorded' : 'corrected',
    milestoneId: milestone.id,
    events,
    warnings: [...warnings, ...whileCancelled(before, derived.record)],
    nextCheckAt: null,
  };
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
function corrected(previous: Milestone, input: MilestoneInput): Milestone {
  const superseded_at = isSameStatement(previous, input) ? previous.superseded_at : null;
  return { ...previous, ...catalogued(input), superseded_at, revision: previous.revision + 1 };
}

/** A milestone that came without an `external_id`, and now again with one, is known by that from now on. */
function taking(external_id: string | null, previous: Milestone): readonly ShipmentEventBody[] {
  if (external_id === null || previous.external_id !== null) return [];
  const milestone = { ...previous, external_id };
  const data = { milestone, previous, supersedes: [], restores: [], last: { containers: [] } };
  return [{ type: 'milestone.corrected.v1', data }];
}

function catalogued(input: MilestoneInput): MilestoneInput & Pick<Milestone, 'label' | 'sequence'> {
  const entry = findMilestoneCode(input.code);
  if (entry === undefined) throw new Error(`${input.code} passed the check without being in the catalog`);
  return { ...input, label: entry.label, sequence: entry.sequence };
}

function isSameContent(milestone: Milestone, input: MilestoneInput): boolean {
  return (Object.keys(input) as (keyof MilestoneInput)[]).every((field) => milestone[field] === input[field]);
}

/** The correction of an actual milestone is announced too. */
function changesOf(
  before: ShipmentRecord,
  derived: Derived,
  previous: Milestone | undefined,
  milestone: Milestone,
): Changes | undefined {
  const changes = changesBetween(before, derived.record);
  if (previous?.classifier !== 'actual') return changes;
  return { ...changes, milestone: { from: previous, to: milestone } };
}

function portsKnownOf({ origin_port, destination_port, legs }: ShipmentRecord): readonly (string | null)[] {
  return [origin_port, destination_port, ...legs.flatMap((leg) => [leg.origin_port, leg.destination_port])];
}

function unknownContainer({ container_number }: MilestoneInput, record: ShipmentRecord): readonly FieldError[] {
  if (container_number === null || record.container_numbers.includes(container_number)) return [];
  const message = `${container_number} is no container of this shipment.`;
  return [{ param: 'container_number', code: 'unknown_container', message }];
}

function tooMany({ timeline }: ShipmentState): readonly FieldError[] {
  if (timeline.length < SHIPMENT_LIMITS.milestones) return [];
  const message = `A shipment has at most ${SHIPMENT_LIMITS.milestones} milestones.`;
  return [{ param: 'code', code: 'limit_exceeded', message }];
}

function unusualForMode(code: string, { mode }: ShipmentRecord): readonly Warning[] {
  if (mode === null || findMilestoneCode(code)?.modes.includes(mode) !== false) return [];
  return [{ code: 'code_unusual_for_mode', param: 'code', message: `${code} is unusual for ${mode}.` }];
}
