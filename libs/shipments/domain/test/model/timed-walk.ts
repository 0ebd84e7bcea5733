import type { ShipmentException, Timestamp } from '@tracking/contracts';
import type { MilestoneInput } from '../../src/index.ts';
import { Scenario } from '../scenario.ts';
import { Clerk } from './clerk.ts';
import { keyOf, momentsOf } from './condition.ts';
import type { Step } from './journeys.ts';
import { type ByHand, type TimedJourney, type TimedStep, later } from './over-time.ts';
import { type PaperStep, expire, send, treat } from './papers.ts';
import { codeOf, take } from './walk.ts';

/** When a shipment is checked between two steps: when something is due and right before, at the end, at these parts of the time, never. */
export type Checks = 'due' | 'last' | 'never' | readonly number[];

/** Sees domain and model at a moment at which exceptions were decided. */
type Look = (scenario: Scenario, clerk: Clerk, now: Timestamp) => void;

/** Takes a journey with the domain and with the model, checked as the plans tell, one after another, and at its end. */
export function walkOverTime(journey: TimedJourney, plans: readonly Checks[], look: Look): Scenario {
  const walk = new TimedWalk(journey, look);
  walk.take({ kind: 'upsert', fields: journey.fields });
  for (const [index, { after, step }] of journey.steps.entries()) {
    walk.wait(after, plans[index % plans.length] ?? 'never');
    walk.take(step);
  }
  walk.wait(journey.then, plans.at(-1) ?? 'never');
  walk.check();
  return walk.scenario;
}

class TimedWalk {
  readonly scenario = new Scenario();
  private readonly clerk = new Clerk();
  private readonly posted: MilestoneInput[] = [];
  /** By the clock that commands go by: it may jump back. */
  private now: Timestamp;
  /** The latest that the shipment was changed at. */
  private known: Timestamp = '';

  constructor(
    { created, settings }: TimedJourney,
    private readonly look: Look,
  ) {
    this.now = created;
    this.scenario.settings = settings;
    this.clerk.settings = settings;
  }

  wait(hours: number, plan: Checks): void {
    const until = later(this.now, hours);
    for (const moment of momentsOfPlan(plan, this.clerk, Date.parse(this.now), Date.parse(until))) {
      this.now = new Date(moment).toISOString();
      this.check();
    }
    this.now = until;
  }

  check(): void {
    this.scenario.at(this.now).check();
    this.seen();
  }

  /** No earlier than what is known already. */
  private get moment(): Timestamp {
    return this.known > this.now ? this.known : this.now;
  }

  private seen(): void {
    expire(this.clerk.model.memory, Date.parse(this.moment));
    this.look(this.scenario, this.clerk, this.moment);
    this.known = this.scenario.record.updated_at;
  }

  take(step: TimedStep): void {
    const { scenario, clerk, now } = this;
    scenario.at(now);
    if (step.kind === 'settings') {
      scenario.settings = step.settings;
      clerk.settings = step.settings;
      clerk.settle(Date.parse(this.moment));
      this.check();
      return;
    }
    if (this.isAhead(step)) return;
    const revision = scenario.events.length;
    if (isByHand(step)) this.takeByHand(step);
    else if (step.kind === 'document') clerk.record(now, this.moment, () => this.takeDocument(step));
    else clerk.record(now, this.moment, () => take(notAhead(step, now), scenario, clerk.model, this.posted));
    // What stores nothing decides nothing: the clock will.
    if (scenario.events.length > revision) this.seen();
  }

  /** Whether it would say anew what has not happened yet by a clock that jumped back: that is refused. */
  private isAhead({ kind }: TimedStep): boolean {
    if (kind !== 'repeat' && kind !== 'correct') return false;
    const said = [...this.posted, ...this.clerk.model.memory.milestones];
    return said.some(({ classifier, occurred_at }) => classifier === 'actual' && occurred_at > this.now);
  }

  private takeDocument(step: PaperStep): void {
    const { scenario, clerk, now } = this;
    const { memory } = clerk.model;
    const known = memory.documents[step.which % Math.max(1, memory.documents.length)];
    const { act } = step;
    if (act === 'add' || act === 'request') {
      const { type } = step;
      const replaces_document_id = step.isInItsPlace ? (known?.id ?? null) : null;
      let id = '';
      const sending = act === 'add' ? 'add' : 'requestUpload';
      const code = codeOf(() => (id = scenario[sending]({ type, replaces_document_id }).documentId));
      const sent = send(memory, step, replaces_document_id, Date.parse(now));
      expect(code).toBe(typeof sent === 'string' ? sent : undefined);
      if (typeof sent !== 'string') sent(id);
    } else if (known !== undefined) {
      const code = codeOf(() => scenario[act](known));
      expect([step, code]).toEqual([step, treat(memory, act, known.id, Date.parse(now))]);
    }
  }

  private takeByHand(step: ByHand): void {
    const { scenario, clerk, moment } = this;
    if (step.kind === 'open') {
      const subjects = [null, ...scenario.record.container_numbers];
      const container = subjects[step.which % subjects.length] ?? null;
      scenario.openByHand(step.type, { severity: step.severity, container_number: container });
      clerk.openByHand(keyOf({ ...step, container }), step.severity, moment);
      return;
    }
    // A person sees what has opened, and the clock has come by within seconds.
    this.check();
    const open = openIn(scenario);
    const exception = open[step.which % Math.max(1, open.length)];
    if (exception === undefined) return;
    if (step.kind === 'acknowledge') {
      scenario.acknowledge(exception);
    } else {
      scenario.resolve(exception);
      clerk.resolve(keyOf({ ...exception, container: exception.container_number }), moment);
    }
  }
}

const isByHand = (step: TimedStep): step is ByHand => ['open', 'acknowledge', 'resolve'].includes(step.kind);

/** By type and container. */
export function openIn({ state }: Scenario): readonly ShipmentException[] {
  const key = ({ type, container_number }: ShipmentException) => keyOf({ type, container: container_number });
  return (state?.exceptions ?? [])
    .filter(({ status }) => status !== 'resolved')
    .toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

function momentsOfPlan(plan: Checks, clerk: Clerk, from: number, until: number): readonly number[] {
  if (plan === 'never') return [];
  if (plan === 'last') return [until];
  if (plan !== 'due') return plan.map((part) => Math.round(from + part * (until - from)));
  return [...new Set(momentsOf(clerk.conditions()).flatMap((moment) => [moment - 1, moment]))]
    .filter((moment) => moment > from && moment <= until)
    .toSorted((a, b) => a - b);
}

/** What happened lies in the past. */
function notAhead(step: Step, now: Timestamp): Step {
  const past = <T extends { readonly occurred_at?: Timestamp }>(content: T): T =>
    content.occurred_at !== undefined && content.occurred_at > now ? { ...content, occurred_at: now } : content;
  if (step.kind === 'post' && step.milestone.classifier === 'actual') {
    return { ...step, milestone: past(step.milestone) };
  }
  return step.kind === 'correct' ? { ...step, patch: past(step.patch) } : step;
}
