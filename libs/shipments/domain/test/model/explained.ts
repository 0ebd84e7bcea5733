import type {
  ExplainedMilestone,
  MilestoneResult,
  MilestoneRule,
  ShipmentExplanation,
  ShipmentStatus,
} from '@tracking/contracts';
import { isSuperseded } from './estimates.ts';
import { openExceptions } from './exceptions.ts';
import { type Memory, type Said, counting, happened, laneOf } from './memory.ts';
import { Reasons } from './reasons.ts';
import { cancellations, countsAs, shipmentStatus } from './status.ts';
import { BY_TIMES } from './walk.ts';

/**
 * "Every milestone with `counted`, `demoted`, `superseded` or `ignored` and the rule; every exception with why it is open":
 * what is explained must be what the model makes of it, and nothing may stand by rules of before.
 */
export function checkExplanation(explanation: ShipmentExplanation, memory: Memory): void {
  const { status, by } = shipmentStatus(memory);
  const reasons = new Reasons(memory);
  expect(explanation.status).toMatchObject({ value: status, milestone_id: by?.id ?? null });
  expect(JSON.stringify(explanation)).not.toContain('earlier_rules');
  expect(explanation.milestones.map((explained) => toldOf(explained, memory, reasons))).toEqual(
    explanation.milestones.map(({ milestone_id }) => expectedOf(milestoneOf(milestone_id, memory), memory)),
  );
  checkTimes(explanation, memory, reasons);
  const open = explanation.exceptions.filter(
    (exception) => exception.status === 'open' && !BY_TIMES.includes(exception.type),
  );
  expect(open.map(({ type, container_number }) => `${type} ${container_number}`).sort()).toEqual(
    openExceptions(memory),
  );
}

/** Of each time what set it and why, and of each time of a leg which estimate did, if one did. */
function checkTimes({ milestones, ...explained }: ShipmentExplanation, memory: Memory, reasons: Reasons): void {
  for (const time of ['etd', 'eta', 'atd', 'ata'] as const) {
    const { value, rule, milestone_id } = explained[time];
    const { by, ...reason } = reasons.times[time];
    expect({ time, value, rule }).toEqual({ time, value: memory.answered[time], ...reason });
    expect(by.length === 0 ? [null] : by.map(({ id }) => id)).toContain(milestone_id);
  }
  for (const [time, setters] of reasons.setters) {
    const estimates = milestones.filter(({ classifier, sets }) => classifier === 'estimated' && sets.includes(time));
    expect([time, estimates.length]).toEqual([time, Math.min(1, setters.length)]);
    const ids = setters.map(({ id }) => id);
    for (const { milestone_id } of estimates) expect(ids).toContain(milestone_id);
  }
}

/** What a milestone counts as for each container that it counts for (null: for the shipment without any), or why for none. */
interface Told {
  readonly id: string;
  readonly why?: string;
  readonly as?: readonly (readonly [string | null, ShipmentStatus | null])[];
}

/** What may be told of estimates that count, and what that is. */
const RESULTS: Readonly<Partial<Record<MilestoneRule, MilestoneResult>>> = {
  newest_estimate: 'counted',
  newer_estimate: 'superseded',
  later_estimate: 'superseded',
  destination_estimated: 'superseded',
  set_by_client: 'superseded',
  actual_time_known: 'ignored',
  estimates_nothing: 'ignored',
  estimated_elsewhere: 'ignored',
};

function toldOf(explained: ExplainedMilestone, memory: Memory, reasons: Reasons): Told {
  const { milestone_id: id, rule, result, counts_as, containers } = explained;
  const milestone = milestoneOf(id, memory);
  if (['retracted', 'container_not_on_shipment', 'planned'].includes(rule)) {
    expect(result).toBe('ignored');
    return { id, why: rule };
  }
  if (milestone.classifier === 'estimated') {
    // Of several words that hold, whichever.
    const words = isSuperseded(milestone, memory) ? ['newer_estimate'] : reasons.wordsFor(milestone);
    expect({ id, words }).toEqual({ id, words: expect.arrayContaining([rule]) });
    expect({ rule, result }).toEqual({ rule, result: RESULTS[rule] });
    return { id, why: 'estimated' };
  }
  if (milestone.code === 'booking_cancelled') return { id, why: String(counts_as) };
  return {
    id,
    as: lanesOf(milestone, memory).map((number) => {
      const other = containers.find(({ container_number }) => container_number === number);
      return [number, (other ?? explained).counts_as];
    }),
  };
}

function expectedOf(milestone: Said, memory: Memory): Told {
  const { id, classifier, code } = milestone;
  if (milestone.retracted) return { id, why: 'retracted' };
  if (!counting(memory).includes(milestone)) return { id, why: 'container_not_on_shipment' };
  if (classifier === 'planned') return { id, why: 'planned' };
  if (classifier === 'estimated') return { id, why: 'estimated' };
  if (code === 'booking_cancelled') {
    return { id, why: String(cancellations(memory).includes(milestone) ? 'cancelled' : null) };
  }
  const actual = happened(memory);
  return {
    id,
    as: lanesOf(milestone, memory).map((number) => {
      const lane = number === null ? actual : laneOf(actual, number);
      return [number, countsAs(milestone, lane, memory)];
    }),
  };
}

function lanesOf({ container_number }: Said, { fields }: Memory): readonly (string | null)[] {
  if (container_number !== null) return [container_number];
  return fields.container_numbers.length === 0 ? [null] : fields.container_numbers;
}

function milestoneOf(id: string, memory: Memory): Said {
  const found = memory.milestones.find((milestone) => milestone.id === id);
  if (found === undefined) throw new Error(`there is no milestone ${id}`);
  return found;
}
