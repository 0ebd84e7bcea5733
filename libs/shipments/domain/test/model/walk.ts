import { DomainError, type Milestone, type ShipmentRecord } from '@tracking/contracts';
import type { MilestoneInput } from '../../src/index.ts';
import { ShipmentScenario } from '../scenario.ts';
import type { MilestonesInAndOutOfOrder } from './arrivals.ts';
import type { GeneratedShipmentJourney, Step } from './journeys.ts';
import type { Expected } from './milestones.ts';
import { ReferenceShipmentModel } from './model.ts';

/** Executes the journey with the domain and the model. Calls `look` after each step, including the first. */
export function runJourneyWithModel(
  journey: GeneratedShipmentJourney,
  look: (scenario: ShipmentScenario, model: ReferenceShipmentModel) => void,
): ShipmentScenario {
  const scenario = new ShipmentScenario();
  const model = new ReferenceShipmentModel(() => scenario.time);
  scenario.upsertShipment(journey.fields);
  model.upsertShipment(journey.fields);
  look(scenario, model);
  const posted: MilestoneInput[] = [];
  for (const step of journey.steps) {
    executeStepInScenarioAndModel(step, scenario, model, posted);
    look(scenario, model);
  }
  return scenario;
}

export function executeStepInScenarioAndModel(
  step: Step,
  scenario: ShipmentScenario,
  model: ReferenceShipmentModel,
  posted: MilestoneInput[],
): void {
  switch (step.kind) {
    case 'upsert':
      scenario.upsertShipment(step.fields);
      model.upsertShipment(step.fields);
      return;
    case 'patch':
      scenario.patchShipment(step.patch);
      model.patchShipment(step.patch);
      return;
    case 'patch_container': {
      const code = captureRefusalCode(() => scenario.patchContainer(step.number, step.patch));
      expect(code).toBe(model.patchContainer(step.number, step.patch));
      return;
    }
    case 'cancel':
    case 'reopen': {
      const code = captureRefusalCode(() => scenario[`${step.kind}Shipment`]());
      expect(code).toBe(step.kind === 'cancel' ? model.cancelShipment() : model.reopenShipment());
      return;
    }
    case 'post': {
      const { milestone } = step;
      posted.push(milestone);
      postMilestoneAndCompareModel(milestone, scenario, model);
      return;
    }
    case 'repeat': {
      const milestone = pickElementByNumber(posted, step.which);
      if (milestone !== undefined) postMilestoneAndCompareModel({ ...milestone, ...step.but }, scenario, model);
      return;
    }
    case 'correct': {
      const milestone = pickElementByNumber(readTimeline(scenario), step.which);
      if (milestone === undefined) return;
      const code = captureRefusalCode(() => scenario.correctMilestone(milestone, step.patch));
      expect(code).toBe(model.correctMilestone(milestone.id, step.patch));
      return;
    }
    case 'retract': {
      const milestone = pickElementByNumber(readTimeline(scenario), step.which);
      if (milestone === undefined) return;
      scenario.retractMilestone(milestone);
      model.retractMilestone(milestone.id);
    }
  }
}

function postMilestoneAndCompareModel(
  input: MilestoneInput,
  scenario: ShipmentScenario,
  model: ReferenceShipmentModel,
): void {
  const known = new Set(readTimeline(scenario).map(({ id }) => id));
  let answer: ReturnType<ShipmentScenario['postMilestoneInScenario']> | undefined;
  const code = captureRefusalCode(
    () => (answer = scenario.postMilestoneInScenario(input.code, input.occurred_at, input)),
  );
  model.postMilestoneInModel(input, answer?.milestone.recorded_at ?? '', (expected) => {
    expect(answer?.outcome ?? 'refused').toBe(expected.outcome);
    const overridden = answer?.warnings.some((warning) => warning.code === 'overridden_by_user') ?? false;
    const id = answer?.milestone.id ?? code ?? '';
    expect(overridden).toBe('overridden' in expected && expected.overridden.includes(id));
    return expectMatchedMilestoneId(expected, id, known);
  });
}

/** Several milestones can match; this names the one that did. */
function expectMatchedMilestoneId(expected: Expected, id: string, known: ReadonlySet<string>): string {
  if (expected.outcome === 'refused') expect(id).toBe('validation_failed');
  else if (expected.outcome === 'recorded') expect(known).not.toContain(id);
  else expect(expected.ids).toContain(id);
  return id;
}

function readTimeline({ state }: ShipmentScenario): readonly Milestone[] {
  return state?.timeline.map(({ milestone }) => milestone) ?? [];
}

function pickElementByNumber<T>(list: readonly T[], which: number): T | undefined {
  return list[which % Math.max(1, list.length)];
}

/** Returns the error code if the command is refused; undefined if it is not. */
export function captureRefusalCode(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (error instanceof DomainError) return error.code;
    throw error;
  }
}

/** Creates a shipment whose milestones arrive in this order. */
export function recordMilestonesInArrivalOrder(
  fields: GeneratedShipmentJourney['fields'],
  arrivals: MilestonesInAndOutOfOrder['inOrder'],
): ShipmentScenario {
  const scenario = new ShipmentScenario();
  scenario.upsertShipment(fields);
  const posted = new Map<MilestoneInput, Milestone>();
  for (const { kind, milestone } of arrivals) {
    const known = posted.get(milestone);
    if (kind === 'retract' && known !== undefined) scenario.retractMilestone(known);
    // A milestone that names a container which is not on the shipment is refused.
    if (kind === 'post') {
      captureRefusalCode(() =>
        posted.set(
          milestone,
          scenario.postMilestoneInScenario(milestone.code, milestone.occurred_at, milestone).milestone,
        ),
      );
    }
  }
  return scenario;
}

/**
 * Returns the data that must not depend on the order of arrival: all but ids, which depend on it, and effects of
 * estimates and plans.
 */
export function getOrderIndependentOutcome(scenario: ShipmentScenario) {
  const { status, atd, ata, status_milestone_id, last_milestone, legs, containers } = convertStateToModelForm(scenario);
  const timeOf = (id: string | null | undefined) =>
    readTimeline(scenario).find((milestone) => milestone.id === id)?.occurred_at;
  return {
    status,
    atd,
    ata,
    setAt: timeOf(status_milestone_id),
    last: timeOf(last_milestone?.id),
    legs: legs.map((leg) => [leg.atd, leg.ata]),
    containers: containers.map((container) => ({
      ...container,
      status_milestone_id: timeOf(container.status_milestone_id),
      last_milestone: timeOf(container.last_milestone?.id),
    })),
    open: listOpenTimeIndependentExceptions(scenario),
  };
}

/** Exception types that depend on times and the clock, and thus on when each milestone arrived. */
const TIME_DEPENDENT_EXCEPTION_TYPES: readonly string[] = [
  'eta_slip',
  'departure_overdue',
  'arrival_overdue',
  'no_update',
  'missed_connection',
  'demurrage_risk',
  'detention_risk',
];

/** Returns type and container of the open exceptions that only milestones and fields decide. */
function listOpenTimeIndependentExceptions({ state }: ShipmentScenario): readonly string[] {
  const open = (state?.exceptions ?? []).filter(
    ({ status, type }) => status !== 'resolved' && !TIME_DEPENDENT_EXCEPTION_TYPES.includes(type),
  );
  return open.map(({ type, container_number }) => `${type} ${container_number}`).sort();
}

/** Returns the domain's answer in the form of the model's. */
export function convertStateToModelForm({ state }: ShipmentScenario) {
  if (state === undefined) throw new Error('there is no shipment');
  const { record, timeline } = state;
  const { status, status_milestone_id, etd, eta, original_eta, atd, ata, legs, last_milestone } = record;
  const { etd_precision, eta_precision, original_eta_precision } = record;
  return {
    fields: pickComparedShipmentFields(record),
    status,
    status_milestone_id,
    etd,
    etd_precision,
    eta,
    eta_precision,
    original_eta,
    original_eta_precision,
    atd,
    ata,
    legs,
    containers: record.containers,
    last_milestone,
    milestones: timeline.map(({ milestone }) => {
      const { id, code, classifier, occurred_at, occurred_at_precision, external_id, container_number } = milestone;
      const { location, note, revision } = milestone;
      const shown = {
        ...{ id, code, classifier, occurred_at, occurred_at_precision, external_id, container_number },
        ...{ location, note, revision },
      };
      const retracted = milestone.retracted_at !== null;
      return { ...shown, retracted, superseded: !retracted && milestone.superseded_at !== null };
    }),
  };
}

function pickComparedShipmentFields(record: ShipmentRecord) {
  const { external_id, mode, load_type, house_bill, master_bill, booking_number, container_numbers } = record;
  const { carrier_scac, origin_port, destination_port, shipper, consignee, references, metadata, incoterm } = record;
  return {
    external_id,
    mode,
    load_type,
    house_bill,
    master_bill,
    booking_number,
    container_numbers,
    carrier_scac,
    origin_port,
    destination_port,
    shipper,
    consignee,
    references,
    metadata,
    incoterm,
  };
}
