import {
  type ExplainedMilestone,
  MILESTONE_RULES,
  type MilestoneEffect,
  type MilestoneRule,
  type ShipmentStatus,
  milestoneRules,
} from '@tracking/contracts';
import { turningPointsOf } from '../container-progress.ts';
import type { Derived } from '../derive.ts';
import { type Meaning, type TurningPoints, meaningAmong, meaningOf, whySetAside } from '../milestone-meaning.ts';
import { isEstimatedArrival, isEstimatedDeparture } from '../schedule.ts';
import type { TimelineEntry } from '../state.ts';

/** What estimates were told to be, of all the times for which they were weighed. */
export class EstimatesTold {
  private readonly rules = new Map<TimelineEntry, { rule: MilestoneRule; readonly sets: string[] }>();

  tell(estimate: TimelineEntry, time: string, rule: MilestoneRule): void {
    const known = this.rules.get(estimate) ?? { rule, sets: [] };
    this.rules.set(estimate, known);
    if (IN_FAVOUR.indexOf(rule) < IN_FAVOUR.indexOf(known.rule)) known.rule = rule;
    if (rule === 'newest_estimate') known.sets.push(time);
  }

  of(estimate: TimelineEntry): { readonly rule: MilestoneRule; readonly sets: readonly string[] } | undefined {
    return this.rules.get(estimate);
  }
}

/** What is said of an estimate that is several for several times: the first of these. */
const IN_FAVOUR: readonly MilestoneRule[] = [
  'newest_estimate',
  'later_estimate',
  'newer_estimate',
  'destination_estimated',
  'set_by_client',
  'actual_time_known',
];

/** What each milestone counts as, told from what was derived. */
export class MilestoneExplainer {
  private readonly present: ReadonlySet<string>;
  private readonly points: ReadonlyMap<string | null, TurningPoints>;

  constructor(
    private readonly derived: Derived,
    private readonly estimates: EstimatesTold,
  ) {
    this.present = new Set(derived.record.container_numbers);
    this.points = new Map(
      derived.subjects.map(({ container_number, summaries }) => [container_number, turningPointsOf(summaries)]),
    );
  }

  explain(timeline: readonly TimelineEntry[]): readonly ExplainedMilestone[] {
    const sets = this.fieldsSet();
    return timeline.map((entry) => {
      const { id, code, classifier, occurred_at, location, container_number } = entry.milestone;
      const told = { milestone_id: id, code, classifier, occurred_at, location, container_number };
      const [effect, containers] = this.effectsOf(entry);
      const fields = [...(sets.get(entry) ?? []), ...(this.estimates.of(entry)?.sets ?? [])];
      return { ...told, ...effect, sets: [...new Set(fields)], containers };
    });
  }

  /** What the shipment has from each milestone, but for times of legs. */
  private fieldsSet(): ReadonlyMap<TimelineEntry, readonly string[]> {
    const { status, times } = this.derived;
    const sets = new Map<TimelineEntry, string[]>();
    const add = (field: string, entry: TimelineEntry | null) => {
      if (entry !== null) sets.set(entry, [...(sets.get(entry) ?? []), field]);
    };
    add('status', status.milestone);
    for (const field of ['etd', 'eta', 'atd', 'ata'] as const) {
      const { rule, milestone } = times[field];
      if (rule !== 'actual_time_known') add(field, milestone);
    }
    return sets;
  }

  /** That for most containers, and those of the others. */
  private effectsOf(entry: TimelineEntry): readonly [MilestoneEffect, ExplainedMilestone['containers']] {
    const aside = whySetAside(entry.milestone, this.present);
    if (aside !== undefined) return [effect(aside), []];
    if (entry.milestone.classifier === 'estimated') return [effect(this.ruleOfEstimate(entry)), []];
    const meaning = meaningOf(entry, milestoneRules(entry.milestone.code), this.derived.analysis.route);
    if (meaning.status === 'cancelled') return [this.effectOfCancellation(entry, meaning), []];
    return this.effectsAmong(entry, meaning);
  }

  private ruleOfEstimate(entry: TimelineEntry): MilestoneRule {
    const told = this.estimates.of(entry);
    if (told !== undefined) return told.rule;
    const { route } = this.derived.analysis;
    const isOfTime = isEstimatedArrival(entry, route) || isEstimatedDeparture(entry, route);
    return isOfTime ? 'estimated_elsewhere' : 'estimates_nothing';
  }

  private effectOfCancellation(entry: TimelineEntry, meaning: Meaning): MilestoneEffect {
    const { analysis, cancellation } = this.derived;
    if (!analysis.cancellations.includes(entry)) return effect('cancellation_taken_back');
    return cancellation?.milestone == null ? effect('delivered_before') : effect(meaning.rule, meaning.status);
  }

  private effectsAmong(
    { milestone: { container_number, occurred_at } }: TimelineEntry,
    meaning: Meaning,
  ): readonly [MilestoneEffect, ExplainedMilestone['containers']] {
    const among = new Map<Meaning, (string | null)[]>();
    for (const number of container_number === null ? this.points.keys() : [container_number]) {
      const points = this.points.get(number);
      if (points === undefined) continue;
      const own = meaningAmong(meaning, occurred_at, points);
      const numbers = among.get(own);
      if (numbers === undefined) among.set(own, [number]);
      else numbers.push(number);
    }
    const [[most] = [meaning], ...others] = [...among].sort(([, a], [, b]) => b.length - a.length);
    const containers = others.flatMap(([{ rule, status }, numbers]) =>
      numbers.map((number) => ({ container_number: number ?? '', ...effect(rule, status) })),
    );
    return [effect(most.rule, most.status), containers];
  }
}

function effect(rule: MilestoneRule, counts_as: ShipmentStatus | null = null): MilestoneEffect {
  return { result: MILESTONE_RULES[rule], rule, counts_as };
}
