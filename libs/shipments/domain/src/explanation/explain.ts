import type {
  ExplainedStatus,
  ExplainedTime,
  ShipmentExplanation,
  ShipmentStatus,
  Timestamp,
} from '@tracking/contracts';
import type { DecideContext } from '../commands/command.ts';
import type { DecidedStatus } from '../container-progress.ts';
import { derive } from '../derive.ts';
import { findingsOf } from '../exceptions/reconcile.ts';
import type { DecidedTime } from '../schedule.ts';
import type { ShipmentState } from '../state.ts';
import { explainExceptions } from './explain-exceptions.ts';
import { EstimatesTold, MilestoneExplainer } from './explain-milestones.ts';

/**
 * Why a shipment is what it is: the decision once more, with what it tells of its reasons. What was decided otherwise at
 * the last write, by rules of then, is said to be so (`earlier_rules`).
 */
export function explain(
  state: ShipmentState,
  { places, settings }: Pick<DecideContext, 'places' | 'settings'>,
): ShipmentExplanation {
  const { record, timeline, heardAt, documents } = state;
  const estimates = new EstimatesTold();
  const derived = derive({ ...state, revision: record.version }, places, (estimate, time, rule) =>
    estimates.tell(estimate, time, rule),
  );
  const { etd, eta, atd, ata } = derived.times;
  return {
    shipment_id: record.id,
    version: record.version,
    status: explainStatus(record, derived.status),
    etd: explainTime(record.etd, etd),
    eta: explainTime(record.eta, eta),
    atd: explainTime(record.atd, atd),
    ata: explainTime(record.ata, ata),
    containers: derived.subjects.flatMap(({ container_number, progress }) => {
      const container = record.containers.find(({ number }) => number === container_number);
      return container === undefined ? [] : [{ number: container.number, status: explainStatus(container, progress) }];
    }),
    milestones: new MilestoneExplainer(derived, estimates).explain(timeline),
    exceptions: explainExceptions(state, findingsOf({ derived, timeline, heardAt, documents, places }, settings)),
  };
}

interface AnsweredStatus {
  readonly status: ShipmentStatus;
  readonly status_milestone_id: string | null;
}

function explainStatus(answered: AnsweredStatus, { status, rule, milestone }: DecidedStatus): ExplainedStatus {
  const { status: value, status_milestone_id: milestone_id } = answered;
  const isSame = value === status && milestone_id === (milestone?.milestone.id ?? null);
  return { value, rule: isSame ? rule : 'earlier_rules', milestone_id };
}

function explainTime(answered: Timestamp | null, { value, rule, milestone }: DecidedTime): ExplainedTime {
  if (value !== answered) return { value: answered, rule: 'earlier_rules', milestone_id: null };
  return { value, rule, milestone_id: milestone?.milestone.id ?? null };
}
