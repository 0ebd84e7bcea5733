import { whileCancelled } from '../decision.ts';
import { findEntry } from '../state.ts';
import type { CommandContext, CommandHandler } from './command.ts';
import { type MilestoneAnswer, answerMilestone, decideMilestone } from './milestone-decision.ts';

/** Takes a milestone back: it stays on record, and counts for nothing. */
export interface RetractMilestone extends CommandContext {
  readonly type: 'RetractMilestone';
  readonly shipment_id: string;
  readonly milestone_id: string;
}

interface RetractResult {
  /** `unchanged`: it was retracted already. */
  readonly outcome: 'retracted' | 'unchanged';
  readonly milestoneId: string;
}
export interface RetractMilestoneAnswer extends Pick<RetractResult, 'outcome'>, MilestoneAnswer {}

export const retractMilestone: CommandHandler<
  RetractMilestone,
  RetractResult,
  Omit<RetractMilestoneAnswer, 'warnings'>
> = {
  decide({ milestone_id, at }, state, context) {
    const { milestone: previous, overridden } = findEntry(state, milestone_id);
    const common = { milestoneId: previous.id, nextCheckAt: state.nextCheckAt };
    if (previous.retracted_at !== null) {
      const warnings = whileCancelled(state.record, state.record);
      return { ...common, outcome: 'unchanged', events: [], warnings };
    }
    const milestone = { ...previous, retracted_at: at, revision: previous.revision + 1 };
    return {
      ...common,
      outcome: 'retracted',
      ...decideMilestone(at, state, { previous, milestone, overridden }, context),
    };
  },
  resultOf(events) {
    for (const { type, data } of events) {
      if (type === 'milestone.retracted.v1') return { outcome: 'retracted', milestoneId: data.milestone.id };
    }
    return undefined;
  },
  answer: (result, after) => ({ outcome: result.outcome, ...answerMilestone(result, after) }),
};
