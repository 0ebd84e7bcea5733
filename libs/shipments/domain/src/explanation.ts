import {
  type ExplainedException,
  type MilestoneWithExplainedEffect,
  type ExplainedStatus,
  type ExplainedTime,
  MILESTONE_RESULTS_BY_RULE,
  type MilestoneEffect,
  type MilestoneRule,
  getMilestoneRules,
  chooseLatestTime,
  type ExceptionResolutionConditions,
  type ShipmentExplanation,
  type ShipmentStatus,
  type Timestamp,
} from '@tracking/contracts';
import { SHIPMENT_LIMITS } from './check-shipment.ts';
import type { DecideContext } from './commands/command.ts';
import type { DecidedStatus } from './container-progress.ts';
import { deriveShipment, type DerivedShipment } from './derive.ts';
import {
  collectExceptionFindings,
  isSuppressedByResolution,
  createFindingKey,
  type RuleFinding,
} from './exceptions/reconcile.ts';
import { RESOLUTION_BY_REMOVING_CONTAINER } from './exceptions/remedies.ts';
import { getNextMillisecond } from './exceptions/rule.ts';
import type { CountingMilestones } from './journey.ts';
import { computeMilestoneMeaning, findIgnoringRule } from './milestone-meaning.ts';
import { type StatusEffectOfMilestone, applyStatusDemotion, type StatusDemotionTimes } from './status-demotions.ts';
import { isEstimatedArrival, isEstimatedDeparture } from './estimates.ts';
import type { TimeWithDecidingRule } from './schedule.ts';
import type { ShipmentState, TimelineEntry } from './state.ts';

/**
 * Explains a shipment's status, times, milestones and exceptions. It decides them again and records the reasons. A
 * value that an earlier version of the rules decided differently has the rule `earlier_rules`.
 */
export function explainShipment(
  state: ShipmentState,
  { places, settings }: Pick<DecideContext, 'places' | 'settings'>,
): ShipmentExplanation {
  const { record, timeline, lastNewsAt, documents } = state;
  const estimates = new AppliedEstimateRuleCollector();
  const derived = deriveShipment(state, places, (estimate, time, rule) =>
    estimates.recordAppliedRule(estimate, time, rule),
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
    milestones: new MilestoneEffectExplainer(derived, estimates).explainMilestones(timeline),
    exceptions: explainShipmentExceptions(
      state,
      derived.analysis.journey,
      collectExceptionFindings({ derived, timeline, lastNewsAt, documents, places }, settings),
    ),
  };
}

interface AnsweredShipmentStatus {
  readonly status: ShipmentStatus;
  readonly status_milestone_id: string | null;
}

function explainStatus(answered: AnsweredShipmentStatus, { status, rule, milestone }: DecidedStatus): ExplainedStatus {
  const { status: value, status_milestone_id: milestone_id } = answered;
  const isSame = value === status && milestone_id === (milestone?.milestone.id ?? null);
  return { value, rule: isSame ? rule : 'earlier_rules', milestone_id };
}

function explainTime(answered: Timestamp | null, { value, rule, milestone }: TimeWithDecidingRule): ExplainedTime {
  if (value !== answered) return { value: answered, rule: 'earlier_rules', milestone_id: null };
  return { value, rule, milestone_id: milestone?.milestone.id ?? null };
}

/**
 * Collects the rule that applied to each estimate, by the id of the milestone. An estimate can be considered for several
 * times, also with the value of an earlier report.
 */
class AppliedEstimateRuleCollector {
  private readonly rules = new Map<string, { rule: MilestoneRule; readonly sets: string[] }>();

  recordAppliedRule({ milestone: { id } }: TimelineEntry, time: string, rule: MilestoneRule): void {
    const known = this.rules.get(id) ?? { rule, sets: [] };
    this.rules.set(id, known);
    if (ESTIMATE_RULES_BY_PRECEDENCE.indexOf(rule) < ESTIMATE_RULES_BY_PRECEDENCE.indexOf(known.rule))
      known.rule = rule;
    if (rule === 'newest_estimate') known.sets.push(time);
  }

  getRuleOfEstimate(
    estimate: TimelineEntry,
  ): { readonly rule: MilestoneRule; readonly sets: readonly string[] } | undefined {
    return this.rules.get(estimate.milestone.id);
  }
}

/** Rules by precedence. An estimate with several rules is explained by the first of them in this list. */
const ESTIMATE_RULES_BY_PRECEDENCE: readonly MilestoneRule[] = [
  'newest_estimate',
  'later_estimate',
  'newer_estimate',
  'destination_estimated',
  'set_by_client',
  'actual_time_known',
];

/** Explains the effect of each milestone. */
class MilestoneEffectExplainer {
  private readonly present: ReadonlySet<string>;
  private readonly points: ReadonlyMap<string | null, StatusDemotionTimes>;

  constructor(
    private readonly derived: DerivedShipment,
    private readonly estimates: AppliedEstimateRuleCollector,
  ) {
    this.present = new Set(derived.record.container_numbers);
    this.points = new Map(
      derived.subjects.map(({ container_number, progress }) => [container_number, progress.points]),
    );
  }

  explainMilestones(timeline: readonly TimelineEntry[]): readonly MilestoneWithExplainedEffect[] {
    const sets = this.collectFieldsSetByMilestones();
    return timeline.map((entry) => {
      const { id, code, classifier, occurred_at, location, container_number } = entry.milestone;
      const described = { milestone_id: id, code, classifier, occurred_at, location, container_number };
      const [effect, containers] = this.explainEffectsOfRecordedMilestone(entry);
      const fields = [...(sets.get(id) ?? []), ...(this.estimates.getRuleOfEstimate(entry)?.sets ?? [])];
      return { ...described, ...effect, sets: [...new Set(fields)], containers };
    });
  }

  /** Returns the fields of the shipment that each milestone, by id, sets, except the times of legs. */
  private collectFieldsSetByMilestones(): ReadonlyMap<string, readonly string[]> {
    const { status, times } = this.derived;
    const sets = new Map<string, string[]>();
    const add = (field: string, entry: TimelineEntry | null) => {
      if (entry !== null) sets.set(entry.milestone.id, [...(sets.get(entry.milestone.id) ?? []), field]);
    };
    add('status', status.milestone);
    for (const field of ['etd', 'eta', 'atd', 'ata'] as const) {
      const { rule, milestone } = times[field];
      if (rule !== 'actual_time_known') add(field, milestone);
    }
    return sets;
  }

  /** Returns the effect of a milestone on most containers, and its effects on the other containers. */
  private explainEffectsOfRecordedMilestone(
    entry: TimelineEntry,
  ): readonly [MilestoneEffect, MilestoneWithExplainedEffect['containers']] {
    const aside = findIgnoringRule(entry.milestone, this.present);
    // A replaced estimate counts again if the report that replaced it was stated after the arrival.
    const counts = aside === 'newer_estimate' && this.estimates.getRuleOfEstimate(entry)?.rule === 'newest_estimate';
    if (aside !== undefined) return [createMilestoneEffect(counts ? 'newest_estimate' : aside), []];
    const ruleOfJourney = this.derived.analysis.journey.excluded.get(entry);
    if (ruleOfJourney !== undefined) return [createMilestoneEffect(ruleOfJourney), []];
    if (entry.milestone.classifier === 'estimated')
      return [createMilestoneEffect(this.findRuleApplyingToEstimate(entry)), []];
    const meaning = computeMilestoneMeaning(
      entry,
      getMilestoneRules(entry.milestone.code),
      this.derived.analysis.route,
    );
    if (meaning.status === 'cancelled') return [this.explainCancellation(entry, meaning), []];
    return this.explainMilestoneEffectPerContainer(entry, meaning);
  }

  private findRuleApplyingToEstimate(entry: TimelineEntry): MilestoneRule {
    const recorded = this.estimates.getRuleOfEstimate(entry);
    if (recorded !== undefined) return recorded.rule;
    const { route } = this.derived.analysis;
    const isOfTime = isEstimatedArrival(entry, route) || isEstimatedDeparture(entry, route);
    return isOfTime ? 'estimated_elsewhere' : 'estimates_nothing';
  }

  private explainCancellation(entry: TimelineEntry, meaning: StatusEffectOfMilestone): MilestoneEffect {
    const { analysis, cancellation } = this.derived;
    if (!analysis.cancellations.includes(entry)) return createMilestoneEffect('cancellation_taken_back');
    return cancellation?.milestone == null
      ? createMilestoneEffect('delivered_before')
      : createMilestoneEffect(meaning.rule, meaning.status);
  }

  private explainMilestoneEffectPerContainer(
    entry: TimelineEntry,
    meaning: StatusEffectOfMilestone,
  ): readonly [MilestoneEffect, MilestoneWithExplainedEffect['containers']] {
    const { container_number } = entry.milestone;
    const { route } = this.derived.analysis;
    const among = new Map<StatusEffectOfMilestone, (string | null)[]>();
    const { excludedByContainer } = this.derived.analysis.journey;
    for (const number of container_number === null ? this.points.keys() : [container_number]) {
      const points = this.points.get(number);
      if (points === undefined) continue;
      const aside = number === null ? undefined : excludedByContainer.get(number)?.get(entry);
      const own =
        aside === undefined
          ? applyStatusDemotion(meaning, entry, points, route)
          : getMilestoneMeaningWithoutStatus(aside);
      const numbers = among.get(own);
      if (numbers === undefined) among.set(own, [number]);
      else numbers.push(number);
    }
    const [[most] = [meaning], ...others] = [...among].sort(([, a], [, b]) => b.length - a.length);
    const containers = others.flatMap(([{ rule, status }, numbers]) =>
      numbers.map((number) => ({ container_number: number ?? '', ...createMilestoneEffect(rule, status) })),
    );
    return [createMilestoneEffect(most.rule, most.status), containers];
  }
}

const statuslessMeaningByMilestoneRule = new Map<MilestoneRule, StatusEffectOfMilestone>();
/** Returns the same object for the same rule, so that containers with the same effect can be grouped. */
function getMilestoneMeaningWithoutStatus(rule: MilestoneRule): StatusEffectOfMilestone {
  const meaning = statuslessMeaningByMilestoneRule.get(rule) ?? { status: null, rule };
  statuslessMeaningByMilestoneRule.set(rule, meaning);
  return meaning;
}

function createMilestoneEffect(rule: MilestoneRule, counts_as: ShipmentStatus | null = null): MilestoneEffect {
  return { result: MILESTONE_RESULTS_BY_RULE[rule], rule, counts_as };
}

/** Explains open, suppressed and expected exceptions. */
function explainShipmentExceptions(
  { exceptions, endedConditions, record }: ShipmentState,
  journey: CountingMilestones,
  findings: Map<string, RuleFinding>,
): readonly ExplainedException[] {
  const notResolved = new Set(
    exceptions
      .filter(({ status }) => status !== 'resolved')
      .map(({ type, container_number }) => createFindingKey(type, container_number)),
  );
  const present = exceptions.flatMap((exception): ExplainedException[] => {
    const { id, type, container_number, status, rule, detail, milestone_id } = exception;
    const key = createFindingKey(type, container_number);
    const found = findings.get(key);
    if (status === 'resolved') {
      if (found === undefined || notResolved.has(key) || endedConditions.has(id)) return [];
      if (!isSuppressedByResolution(exception, found, record.updated_at)) return [];
      findings.delete(key);
      return [{ ...explainExpectedException(found, journey), exception_id: id, status: 'suppressed', opens_at: null }];
    }
    findings.delete(key);
    const described = { type, container_number, status, rule, because: detail, milestone_id };
    // If a person opened the exception, only a person resolves it.
    const resolved_by = listWaysToResolveException(container_number, rule === null ? undefined : found, journey);
    return [{ exception_id: id, ...described, opens_at: null, resolved_by }];
  });
  const expectedBeyondLimit = exceptions.length >= SHIPMENT_LIMITS.exceptions;
  return expectedBeyondLimit
    ? present
    : [...present, ...[...findings.values()].map((found) => explainExpectedException(found, journey))];
}

/** Returns the explanation of an exception that will open for a finding. */
function explainExpectedException(found: RuleFinding, journey: CountingMilestones): ExplainedException {
  const { type } = found.rule;
  const { container_number, detail, milestone, opens_at = null } = found.finding;
  return {
    exception_id: null,
    type,
    container_number,
    status: 'expected',
    rule: type,
    because: detail,
    milestone_id: milestone?.milestone.id ?? null,
    opens_at,
    resolved_by: listWaysToResolveException(container_number, found, journey),
  };
}

function listWaysToResolveException(
  container_number: string | null,
  found: RuleFinding | undefined,
  { previousTripEnds }: CountingMilestones,
): ExplainedException['resolved_by'] {
  const ended = container_number === null ? undefined : previousTripEnds.get(container_number);
  const ofRule = (found?.finding.resolvedBy() ?? []).map((resolution) =>
    ended === undefined || resolution.by !== 'milestone'
      ? resolution
      : restrictResolutionToMilestonesAfterTripEnd(resolution, ended),
  );
  return container_number === null ? ofRule : [...ofRule, RESOLUTION_BY_REMOVING_CONTAINER];
}

/** Milestones up to the end of the previous trip of the container do not count. */
function restrictResolutionToMilestonesAfterTripEnd(
  resolution: ExceptionResolutionConditions,
  ended: Timestamp,
): ExceptionResolutionConditions {
  return { ...resolution, occurred_from: chooseLatestTime(getNextMillisecond(ended), resolution.occurred_from ?? '') };
}
