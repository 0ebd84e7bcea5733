import type { ShipmentException, Timestamp } from '@tracking/contracts';
import type { MilestoneInput } from '../../src/index.ts';
import { ShipmentScenario } from '../scenario.ts';
import type { Step } from './journeys.ts';
import { ReferenceShipmentModel } from './model.ts';
import {
  type PersonStep,
  type DocumentActionStep,
  type TestJourneyWithTimedSteps,
  type TimedStep,
  addHoursToTime,
} from './over-time.ts';
import { captureRefusalCode, executeStepInScenarioAndModel } from './walk.ts';

/** Plan of checks between two steps: before and at each due time, at the end, at fractions of the time, or never. */
export type CheckPlan = 'due' | 'last' | 'never' | readonly number[];

/** Called with the shipment whenever exceptions were decided. */
type Visitor = (scenario: ShipmentScenario, now: Timestamp) => void;

/** Runs the steps of a journey, and then a final check. After each step, it checks as the next plan requires. */
export function runJourneyOverTime(
  journey: TestJourneyWithTimedSteps,
  plans: readonly CheckPlan[],
  look: Visitor,
): ShipmentScenario {
  const walk = new TestRunOfTimedJourneyAgainstModel(journey, look);
  walk.executeStepAtCurrentTime({ kind: 'upsert', fields: journey.fields });
  for (const [index, { after, step }] of journey.steps.entries()) {
    walk.waitHours(after, plans[index % plans.length] ?? 'never');
    walk.executeStepAtCurrentTime(step);
  }
  walk.waitHours(journey.then, plans.at(-1) ?? 'never');
  walk.checkRules();
  return walk.scenario;
}

interface ExceptionSubject {
  readonly type: string;
  readonly container_number: string | null;
}

/** Type and container of an exception. At most one unresolved exception exists per type and container. */
export function getExceptionKey({ type, container_number }: ExceptionSubject): string {
  return `${type} ${container_number}`;
}

/** Returns the unresolved exceptions, sorted by type and container. */
export function listUnresolvedExceptions({ state }: ShipmentScenario): readonly ShipmentException[] {
  return (state?.exceptions ?? [])
    .filter(({ status }) => status !== 'resolved')
    .toSorted((a, b) => (getExceptionKey(a) < getExceptionKey(b) ? -1 : 1));
}

/** Methods of the scenario for actions on a document that exists. */
const SCENARIO_METHOD_BY_DOCUMENT_ACTION = {
  receive: 'receiveUpload',
  complete: 'completeUpload',
  approve: 'approveDocument',
  reject: 'rejectDocument',
  delete: 'deleteDocument',
} as const;

class TestRunOfTimedJourneyAgainstModel {
  readonly scenario = new ShipmentScenario();
  private readonly model = new ReferenceShipmentModel(() => this.scenario.time);
  private readonly posted: MilestoneInput[] = [];
  /** Time of the commands. Their clock may jump back. */
  private now: Timestamp;
  /** Latest time at which the shipment changed. */
  private known: Timestamp = '';

  constructor(
    { created, settings }: TestJourneyWithTimedSteps,
    private readonly look: Visitor,
  ) {
    this.now = created;
    this.scenario.settings = settings;
  }

  waitHours(hours: number, plan: CheckPlan): void {
    const until = addHoursToTime(this.now, hours);
    if (plan === 'due') this.checkInvariantsAtDueTimes(until);
    else
      for (const moment of listCheckTimesOfPlan(plan, Date.parse(this.now), Date.parse(until)))
        this.checkInvariantsAt(moment);
    this.now = until;
  }

  checkRules(): void {
    this.scenario.setTimeOfNextCommand(this.now).checkRules();
    this.passScenarioToVisitor();
  }

  executeStepAtCurrentTime(step: TimedStep): void {
    const { scenario, model, now } = this;
    scenario.setTimeOfNextCommand(now);
    if (step.kind === 'settings') {
      scenario.settings = step.settings;
      this.checkRules();
      return;
    }
    if (this.isStepAboutFutureMilestone(step)) return;
    const revision = scenario.events.length;
    if (step.kind === 'document') this.executeDocumentStep(step);
    else if (isPersonStep(step)) this.executePersonStep(step);
    else executeStepInScenarioAndModel(moveActualMilestonesIntoPast(step, now), scenario, model, this.posted);
    // A command that stores nothing decides no exceptions. The next check decides them.
    if (scenario.events.length > revision) this.passScenarioToVisitor();
  }

  private passScenarioToVisitor(): void {
    this.look(this.scenario, this.known > this.now ? this.known : this.now);
    this.known = this.scenario.record.updated_at;
  }

  private checkInvariantsAt(moment: number): void {
    this.now = new Date(moment).toISOString();
    this.checkRules();
  }

  private checkInvariantsAtDueTimes(until: Timestamp): void {
    for (;;) {
      const next = this.scenario.state?.nextCheckAt ?? null;
      if (next === null || next <= this.now || next > until) return;
      const due = Date.parse(next);
      if (due - 1 > Date.parse(this.now)) this.checkInvariantsAt(due - 1);
      this.checkInvariantsAt(due);
    }
  }

  /**
   * Returns true if the step repeats or corrects a milestone that is in the future, because the clock has jumped back.
   * Such a step is refused.
   */
  private isStepAboutFutureMilestone({ kind }: TimedStep): boolean {
    if (kind !== 'repeat' && kind !== 'correct') return false;
    const said = [...this.posted, ...this.model.memory.milestones];
    return said.some(({ classifier, occurred_at }) => classifier === 'actual' && occurred_at > this.now);
  }

  private executeDocumentStep({ act, type, which, isInItsPlace }: DocumentActionStep): void {
    const { scenario } = this;
    const documents = scenario.state?.documents ?? [];
    const known = documents[which % Math.max(1, documents.length)]?.document;
    // The command may be refused. A refusal does not change the shipment.
    captureRefusalCode(() => {
      const replaces_document_id = isInItsPlace ? (known?.id ?? null) : null;
      if (act === 'add') scenario.addDocument({ type, replaces_document_id });
      else if (act === 'request') scenario.requestUpload({ type, replaces_document_id });
      else if (known !== undefined) scenario[SCENARIO_METHOD_BY_DOCUMENT_ACTION[act]](known);
    });
  }

  private executePersonStep(step: PersonStep): void {
    const { scenario } = this;
    if (step.kind === 'open') {
      const subjects = [null, ...scenario.record.container_numbers];
      const container_number = subjects[step.which % subjects.length] ?? null;
      scenario.openException(step.type, { severity: step.severity, container_number });
      return;
    }
    // People see exceptions that are due, because the clock checks within seconds.
    this.checkRules();
    const open = listUnresolvedExceptions(scenario);
    const exception = open[step.which % Math.max(1, open.length)];
    if (exception === undefined) return;
    if (step.kind === 'acknowledge') scenario.acknowledgeException(exception);
    else scenario.resolveException(exception);
  }
}

const isPersonStep = (step: TimedStep): step is PersonStep => ['open', 'acknowledge', 'resolve'].includes(step.kind);

function listCheckTimesOfPlan(plan: Exclude<CheckPlan, 'due'>, from: number, until: number): readonly number[] {
  if (plan === 'never') return [];
  return plan === 'last' ? [until] : plan.map((part) => Math.round(from + part * (until - from)));
}

/** Moves actual milestones of the step into the past. */
function moveActualMilestonesIntoPast(step: Step, now: Timestamp): Step {
  const past = <T extends { readonly occurred_at?: Timestamp }>(content: T): T =>
    content.occurred_at !== undefined && content.occurred_at > now ? { ...content, occurred_at: now } : content;
  if (step.kind === 'post' && step.milestone.classifier === 'actual') {
    return { ...step, milestone: past(step.milestone) };
  }
  return step.kind === 'correct' ? { ...step, patch: past(step.patch) } : step;
}
