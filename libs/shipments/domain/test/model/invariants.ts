import {
  type MilestoneWithExplainedEffect,
  MILESTONE_RESULTS_BY_RULE,
  type ShipmentExplanation,
  type ShipmentStatus,
  SHIPMENT_STATUSES,
  type Timestamp,
  isDocumentPresent,
} from '@tracking/contracts';
import { type ShipmentEventBody, type ShipmentState, decide, explainShipment } from '../../src/index.ts';
import { cloneShipmentScenario } from '../remedies.ts';
import { SHIPMENT_ID, type ShipmentScenario, createDecideContext, scenarioPlacesStub } from '../scenario.ts';
import { getExceptionKey, listUnresolvedExceptions } from './timed-walk.ts';

export function getScenarioShipmentOrThrow({ state }: ShipmentScenario): ShipmentState {
  if (state === undefined) throw new Error('the scenario has no shipment to check');
  return state;
}

/** Returns the events that a check of the rules would store. */
export function computeRuleCheckEventsAt(
  at: Timestamp,
  scenario: ShipmentScenario,
  state = getScenarioShipmentOrThrow(scenario),
): readonly ShipmentEventBody[] {
  const command = { ...scenario.createCommandContext(), at, type: 'CheckRules', shipment_id: SHIPMENT_ID } as const;
  return decide(command, state, { ...createDecideContext(command.id), settings: scenario.settings }).events;
}

/**
 * Checks that the exceptions of a shipment after a decision do not depend on its history. The rules must open the same
 * exceptions for a shipment without exceptions. Exceptions that a person opened, or resolved while their condition
 * still exists, are excluded.
 */
export function expectExceptionsIndependentOfHistory(scenario: ShipmentScenario, now: Timestamp): void {
  const state = getScenarioShipmentOrThrow(scenario);
  const { record, documents, exceptions } = state;
  const open = listUnresolvedExceptions(scenario);
  expect(new Set(open.map(getExceptionKey)).size).toBe(open.length);
  expect(new Set(exceptions.map(({ id }) => id)).size).toBe(exceptions.length);
  expect(record.open_exceptions_count).toBe(open.length);
  expect(record.documents_count).toBe(documents.filter(({ document }) => isDocumentPresent(document)).length);

  const without = { ...state, exceptions: [], endedConditions: new Set<string>() };
  const afresh = computeRuleCheckEventsAt(now, scenario, {
    ...without,
    record: { ...record, open_exceptions_count: 0 },
  });
  const found = new Map(
    afresh.flatMap(({ type, data }) =>
      type === 'exception.opened.v1' ? [[getExceptionKey(data.exception), data.exception]] : [],
    ),
  );
  const byHand = new Set(open.filter(({ rule }) => rule === null).map(getExceptionKey));
  const suppressed = listExplainedExceptions(scenario, ['suppressed']).map(getExceptionKey);
  const byRule = open.filter(({ rule }) => rule !== null);
  const expected = [...found.keys()].filter((key) => !byHand.has(key)).sort();
  expect([...byRule.map(getExceptionKey), ...suppressed].sort()).toEqual(expected);
  for (const exception of byRule) {
    const { severity, metrics } = found.get(getExceptionKey(exception)) ?? {};
    expect({ severity: exception.severity, metrics: exception.metrics }).toEqual({ severity, metrics });
  }
}

/**
 * Checks that the explanation contains the open exceptions, and the times at which further exceptions open if nothing
 * else happens.
 */
export function checkExplainedExceptions(scenario: ShipmentScenario): void {
  const open = listUnresolvedExceptions(scenario).map(getExceptionKey);
  const explainedOpen = listExplainedExceptions(scenario, ['open', 'acknowledged']);
  expect(explainedOpen.map(getExceptionKey).sort()).toEqual(open);
  const expected = listExplainedExceptions(scenario, ['expected']).map(
    (each) => [getExceptionKey(each), each.opens_at] as const,
  );
  expect(new Map(expected.toSorted())).toEqual(predictExceptionOpeningTimes(scenario, new Set(open)));
}

/** Returns the times at which further exceptions open, by type and container. */
function predictExceptionOpeningTimes(
  scenario: ShipmentScenario,
  open: ReadonlySet<string>,
): ReadonlyMap<string, Timestamp> {
  const branch = cloneShipmentScenario(scenario);
  const opened = new Map<string, Timestamp>();
  for (let next = branch.state?.nextCheckAt; next; next = branch.state?.nextCheckAt) {
    branch.setTimeOfNextCommand(next).checkRules();
    for (const exception of listUnresolvedExceptions(branch)) {
      const key = getExceptionKey(exception);
      if (!open.has(key) && !opened.has(key)) opened.set(key, exception.opened_at);
    }
  }
  return new Map([...opened].toSorted());
}

function listExplainedExceptions(scenario: ShipmentScenario, statuses: readonly string[]) {
  const { exceptions } = explainShipment(getScenarioShipmentOrThrow(scenario), {
    places: scenarioPlacesStub,
    settings: scenario.settings,
  });
  return exceptions.filter(({ status }) => statuses.includes(status));
}

/**
 * Checks that the explanation agrees with the shipment: status and times are those of the named milestones, each
 * milestone is explained once, and the effects of the milestones give the status of each container.
 */
export function expectConsistentExplanation(explanation: ShipmentExplanation, state: ShipmentState): void {
  const { record, timeline } = state;
  const { milestones, status } = explanation;
  expect(JSON.stringify(explanation)).not.toContain('earlier_rules');
  expect([status.value, status.milestone_id]).toEqual([record.status, record.status_milestone_id]);
  expect(milestones.map(({ milestone_id }) => milestone_id)).toEqual(timeline.map(({ milestone }) => milestone.id));
  for (const [index, { milestone }] of timeline.entries()) {
    const { rule, result, counts_as } = milestones[index] as MilestoneWithExplainedEffect;
    expect([rule, result]).toEqual([rule, MILESTONE_RESULTS_BY_RULE[rule]]);
    expect([rule, milestone.retracted_at !== null]).toEqual([rule, rule === 'retracted']);
    if (milestone.classifier !== 'actual') expect(counts_as).toBeNull();
  }
  expectTimesToMatchMilestones(explanation, state);
  for (const container of record.containers) {
    if (container.status === 'cancelled') continue;
    const reached = milestones.map((each) => computeStatusRankOfMilestoneForContainer(container.number, each));
    expect([container.number, container.status]).toEqual([
      container.number,
      SHIPMENT_STATUSES[Math.max(0, ...reached)],
    ]);
  }
}

/** Returns the rank that a milestone gives to a container; 0 if it gives none. */
function computeStatusRankOfMilestoneForContainer(
  number: string,
  { container_number, containers, counts_as }: MilestoneWithExplainedEffect,
): number {
  if (container_number !== null && container_number !== number) return 0;
  const own = containers.find((each) => each.container_number === number);
  const status: ShipmentStatus | null = own === undefined ? counts_as : own.counts_as;
  return status === null || status === 'cancelled' ? 0 : SHIPMENT_STATUSES.indexOf(status);
}

/**
 * Checks that a time set by a milestone is the milestone's time, or that of an earlier report of it, and that no other
 * milestone sets the time.
 */
function expectTimesToMatchMilestones(
  { milestones, ...explanation }: ShipmentExplanation,
  { record, timeline }: ShipmentState,
): void {
  const setters = (time: string) => milestones.filter(({ sets }) => sets.includes(time));
  const reports = new Map(timeline.map(({ milestone, formerReports }) => [milestone.id, formerReports]));
  const reportedTime = ({ milestone_id, occurred_at }: MilestoneWithExplainedEffect, value: string | null) =>
    reports.get(milestone_id)?.some((report) => report.occurred_at === value) ? value : occurred_at;
  for (const time of ['etd', 'eta', 'atd', 'ata'] as const) {
    const { value, rule, milestone_id } = explanation[time];
    expect([time, value]).toEqual([time, record[time]]);
    // A day of an estimate is that day at the port of the shipment.
    if ((time === 'etd' || time === 'eta') && record[`${time}_precision`] === 'day') continue;
    if (rule === 'actual_time_known') continue;
    const expected = milestone_id === null ? [] : [[milestone_id, value]];
    expect([time, setters(time).map((each) => [each.milestone_id, reportedTime(each, value)])]).toEqual([
      time,
      expected,
    ]);
  }
  for (const [index, leg] of record.legs.entries()) {
    for (const time of ['etd', 'eta'] as const) {
      if (leg[`${time}_precision`] === 'day') continue;
      const times = setters(`legs[${index}].${time}`).map((each) => reportedTime(each, leg[time]));
      expect([index, time, times]).toEqual([index, time, times.length === 0 ? [] : [leg[time]]]);
    }
  }
}
