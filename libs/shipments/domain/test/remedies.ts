import {
  type DocumentRecord,
  type ExplainedException,
  TRANSPORT_MODES,
  type Milestone,
  type ExceptionResolutionConditions,
  type ShipmentException,
  type Timestamp,
  chooseLatestTime,
} from '@tracking/contracts';
import { type ShipmentPatch, type ShipmentState, explainShipment } from '../src/index.ts';
import { ShipmentScenario, scenarioPlacesStub } from './scenario.ts';
import { DAY_MS, addMsToTime } from './time-driven.ts';

/** A way to resolve an exception, and the action that applies it. */
interface ExceptionRemedyForTest {
  readonly by: ExceptionResolutionConditions['by'];
  readonly what: string;
  /** Applies the remedy and returns what it created. */
  readonly act: (scenario: ShipmentScenario) => unknown;
  /** Reverts the remedy, if possible, so that the shipment is as before. */
  readonly undo?: ((scenario: ShipmentScenario, made: unknown) => unknown) | undefined;
}

/** Returns a copy of the shipment for another action. */
export function cloneShipmentScenario(scenario: ShipmentScenario): ShipmentScenario {
  return Object.assign(new ShipmentScenario(), scenario, { events: [...scenario.events] });
}

/** Returns the explanations of the open exceptions. */
export function explainOpenExceptions(scenario: ShipmentScenario): readonly ExplainedException[] {
  const { exceptions } = explainShipment(getScenarioShipmentOrThrow(scenario), {
    places: scenarioPlacesStub,
    settings: scenario.settings,
  });
  return exceptions.filter(({ status }) => status === 'open' || status === 'acknowledged');
}

/**
 * Returns the status of an open exception after an action: `open` or `resolved auto_cleared`, and whether another
 * exception of its type opens immediately.
 */
export function readExceptionStatusAfterAction(
  scenario: ShipmentScenario,
  told: ExplainedException,
  act: (scenario: ShipmentScenario) => unknown,
): string {
  const one = cloneShipmentScenario(scenario).setTimeOfNextCommand(findEarliestTimeForCommand(scenario));
  act(one);
  const { exceptions } = getScenarioShipmentOrThrow(one);
  const isAlike = ({ type, container_number }: ShipmentException) =>
    type === told.type && container_number === told.container_number;
  const itself = exceptions.find(({ id }) => id === told.exception_id);
  const another = exceptions.find((each) => each !== itself && isAlike(each) && each.status !== 'resolved');
  return [itself?.status, itself?.resolution?.code, another && 'and another'].filter(Boolean).join(' ');
}

/** Returns a time that is not before the last command, whose clock may have jumped back, or any data of the shipment. */
function findEarliestTimeForCommand({ record, time }: ShipmentScenario, from: Timestamp | null = null): Timestamp {
  return chooseLatestTime(time, record.updated_at, from ?? '');
}

/**
 * Checks that every explained remedy alone resolves the exception, and that nothing else did, because the exception
 * returns when the remedy is reverted.
 */
export function expectRemediesResolveException(
  scenario: ShipmentScenario,
  onEach: (remedy: ExceptionRemedyForTest) => void,
): void {
  for (const told of explainOpenExceptions(scenario)) {
    const then = (what: string, act: ExceptionRemedyForTest['act']) => [
      told.type,
      what,
      readExceptionStatusAfterAction(scenario, told, act),
    ];
    const stays = (what: string) => [told.type, what, told.status];
    expect(then('a check', (one) => one.checkRules())).toEqual(stays('a check'));
    expect(then('a change', (one) => one.patchShipment({ booking_number: 'B-1' }))).toEqual(stays('a change'));
    for (const remedy of listEachExplainedRemedy(scenario, told)) {
      const { by, what, act, undo } = remedy;
      onEach(remedy);
      const outcome = then(`${by}: ${what}`, act);
      // A cancellation that had no effect cancels the shipment once the milestones or the trip that revoked it do not
      // count.
      if (outcome.includes('resolved shipment_cancelled') && hasMilestone(scenario, 'booking_cancelled')) continue;
      expect(outcome).toEqual([told.type, `${by}: ${what}`, 'resolved auto_cleared']);
      if (undo === undefined) continue;
      const undone = then(`not ${what}`, (one) => undo(one, act(one)));
      expect(undone).toEqual([told.type, `not ${what}`, 'resolved auto_cleared and another']);
    }
  }
}

/** Returns every explained remedy, each alone. */
function listEachExplainedRemedy(
  scenario: ShipmentScenario,
  told: ExplainedException,
): readonly ExceptionRemedyForTest[] {
  return told.resolved_by.flatMap((each) =>
    createActionsOfRemedy(scenario, told, each).map((way) => ({ ...way, by: each.by })),
  );
}

/** Tests whether the shipment is cancelled by a milestone of the container, so only while it has the container. */
function isShipmentCancelledByContainerMilestone({ record, state }: ShipmentScenario, number: string | null): boolean {
  const { status, status_milestone_id } = record;
  const cause = state?.timeline.find(({ milestone }) => milestone.id === status_milestone_id)?.milestone;
  return status === 'cancelled' && cause !== undefined && cause.container_number === number;
}

function hasMilestone({ state }: ShipmentScenario, code: string): boolean {
  return state?.timeline.some(({ milestone }) => milestone.code === code) ?? false;
}

type Attempt = Omit<ExceptionRemedyForTest, 'by'>;

function createActionsOfRemedy(
  scenario: ShipmentScenario,
  told: ExplainedException,
  remedy: ExceptionResolutionConditions,
): readonly Attempt[] {
  const { milestone_ids, fields, document_types } = remedy;
  switch (remedy.by) {
    case 'milestone':
      return remedy.codes.flatMap((code) => createResolvingMilestoneAttempts(scenario, told, { ...remedy, code }));
    case 'correction':
      return milestone_ids.flatMap((_id, which) => createMilestoneCorrectionAttempts(told, which));
    case 'field_changed':
      return fields.flatMap((field) => createFieldChangeAttempts(field, told, scenario));
    case 'news':
      return createTestActionsSendingNewInformation(scenario);
    case 'cancellation_taken_back':
      return [{ what: 'reopened', act: revokeShipmentCancellation }];
    case 'container_taken_off': {
      const { container_numbers } = scenario.record;
      const others = container_numbers.filter((number) => number !== told.container_number);
      const putBack = (one: ShipmentScenario) => one.upsertShipment({ container_numbers });
      // Rules do not open an exception again that a person opened, nor one of a cancellation that starts again.
      const undo =
        told.rule === null || isShipmentCancelledByContainerMilestone(scenario, told.container_number)
          ? undefined
          : putBack;
      return [{ what: 'taken off', act: (one) => one.upsertShipment({ container_numbers: others }), undo }];
    }
    case 'document_uploaded':
    case 'document_approved': {
      const add = (one: ShipmentScenario) => document_types.map((type) => one.addDocument({ type }).document);
      const approve = (one: ShipmentScenario) => add(one).map((document) => one.approveDocument(document).document);
      const act = remedy.by === 'document_uploaded' ? add : approve;
      // A single missing document keeps the exception open.
      const undo = (one: ShipmentScenario, made: unknown) =>
        one.deleteDocument((made as readonly DocumentRecord[])[0] as DocumentRecord);
      return [{ what: document_types.join(), act, undo }];
    }
  }
}

/**
 * Attempts for a code: a milestone at the earliest sufficient time, and one now. If other milestones have the earliest
 * time, the attempt is 1 ms later, because a milestone of the same instant may come before them in the journey.
 */
function createResolvingMilestoneAttempts(
  scenario: ShipmentScenario,
  { container_number, milestone_id }: ExplainedException,
  { code, occurred_from }: Pick<ExceptionResolutionConditions, 'occurred_from'> & { readonly code: string },
): readonly Attempt[] {
  const now = findEarliestTimeForCommand(scenario, occurred_from);
  const isShared = getScenarioShipmentOrThrow(scenario).timeline.some(
    ({ milestone: { id, occurred_at } }) => id !== milestone_id && occurred_at === occurred_from,
  );
  const earliest = isShared ? addMsToTime(occurred_from ?? now, 1) : occurred_from;
  // A later report that the cargo is unavailable again takes an early one back.
  const isTakenBack = code === 'available_for_pickup' && hasMilestone(scenario, 'unavailable_for_pickup');
  const times = isTakenBack ? [now] : [...new Set([earliest ?? LONG_PAST_TIME, now])];
  return times.map((time) => ({
    what: `${code} at ${time}`,
    act: (one) =>
      one.setTimeOfNextCommand(now).postMilestoneInScenario(code, time, { container_number, external_id: 'REMEDY' })
        .milestone,
    undo: (one, made) => one.retractMilestone(made as Milestone),
  }));
}
/** A past time for milestones whose date does not matter. */
const LONG_PAST_TIME: Timestamp = '2020-01-01T00:00:00.000Z';

/**
 * Attempts that correct the named milestone and, if others cause the same exception, each of those named next, until
 * none is left.
 */
function createMilestoneCorrectionAttempts(told: ExplainedException, which: number): readonly Attempt[] {
  const each = (correct: (one: ShipmentScenario, id: string) => unknown) => (one: ShipmentScenario) => {
    const corrected: string[] = [];
    for (let present: ExplainedException | undefined = told; present !== undefined;) {
      const { milestone_ids = [] } = present.resolved_by.find(({ by }) => by === 'correction') ?? {};
      const id = milestone_ids[Math.min(which, milestone_ids.length - 1)];
      if (id === undefined || corrected.includes(id))
        throw new Error(`no explained milestone keeps ${told.type} open, but it is still open`);
      correct(one, id);
      corrected.push(id);
      present = explainOpenExceptions(one).find(({ exception_id }) => exception_id === told.exception_id);
    }
    return corrected;
  };
  const revert = (one: ShipmentScenario, made: unknown) =>
    (made as readonly string[]).forEach((id) => one.correctMilestone({ id }, { classifier: 'actual' }));
  return [
    { what: 'retraction', act: each((one, id) => one.retractMilestone({ id })) },
    {
      what: 'correction',
      act: each((one, id) => one.correctMilestone({ id }, { classifier: 'planned' })),
      // Exceptions that also depend on the time since the milestone.
      ...(!TIME_DEPENDENT_EXCEPTION_TYPES.includes(told.type) && { undo: revert }),
    },
  ];
}
const TIME_DEPENDENT_EXCEPTION_TYPES: readonly string[] = ['missed_connection', 'demurrage_risk', 'detention_risk'];

function createTestActionsSendingNewInformation(scenario: ShipmentScenario): readonly Attempt[] {
  const now = findEarliestTimeForCommand(scenario);
  const milestones = (['actual', 'estimated', 'planned'] as const).map((classifier) => ({
    what: classifier,
    act: (one: ShipmentScenario) =>
      one.postMilestoneInScenario('arrival_notice_issued', now, { classifier, external_id: 'NEWS' }),
  }));
  return [
    ...milestones,
    { what: 'another ETA', act: (one) => one.patchShipment({ eta: addMsToTime(now, 77 * DAY_MS + 1) }) },
  ];
}

/** Returns attempts to set the field to another value without a problem: far in the future, or as first expected. */
function createFieldChangeAttempts(
  field: string,
  { type, container_number }: ExplainedException,
  scenario: ShipmentScenario,
): readonly Attempt[] {
  const { record, schedule } = getScenarioShipmentOrThrow(scenario);
  const ahead = addMsToTime(findEarliestTimeForCommand(scenario), 400 * DAY_MS);
  const place = /^legs\[(\d+)\]\.etd$/.exec(field)?.[1];
  if (place !== undefined) {
    const withEtd = (etd: Timestamp | null) =>
      schedule.legs.value.map((each, index) => (index === Number(place) ? { ...each, etd } : each));
    const etd = record.legs[Number(place)]?.etd ?? null;
    return [createReversibleShipmentPatch({ legs: withEtd(ahead) }, { legs: withEtd(etd) })];
  }
  if (field === 'last_free_day' || field === 'empty_return_by') {
    return createReversibleContainerDateChanges(field, container_number ?? 'no container', scenario, ahead);
  }
  const { eta, etd, original_eta, mode } = record;
  const { required_documents } = scenario.settings;
  const without = TRANSPORT_MODES.find((each) => required_documents[each].length === 0) ?? null;
  if (field === 'mode') return [createReversibleShipmentPatch({ mode: without }, { mode })];
  if (field === 'original_eta') return [createReversibleShipmentPatch({ original_eta: eta }, { original_eta })];
  if (field === 'eta')
    return [createReversibleShipmentPatch({ eta: type === 'eta_slip' ? original_eta : ahead }, { eta })];
  if (field === 'etd') return [createReversibleShipmentPatch({ etd: ahead }, { etd })];
  throw new Error(`nobody sets ${field}`);
}

function createReversibleContainerDateChanges(
  field: 'last_free_day' | 'empty_return_by',
  number: string,
  scenario: ShipmentScenario,
  ahead: Timestamp,
): readonly Attempt[] {
  const day = scenario.getContainer(number)[field];
  return [
    {
      what: field,
      act: (one) => one.patchContainer(number, { [field]: ahead.slice(0, 10) }),
      undo: (one) => one.patchContainer(number, { [field]: day }),
    },
  ];
}

function createReversibleShipmentPatch(patch: ShipmentPatch, back: ShipmentPatch): Attempt {
  const what = `another ${Object.keys(patch).join()}`;
  return { what, act: (one) => one.patchShipment(patch), undo: (one) => one.patchShipment(back) };
}

/** Revokes the cancellation of the client or of milestones. */
function revokeShipmentCancellation(scenario: ShipmentScenario): void {
  const { record } = scenario;
  if (record.status_milestone_id !== null) {
    const now = addMsToTime(findEarliestTimeForCommand(scenario), 1);
    scenario.setTimeOfNextCommand(now).postMilestoneInScenario('booking_confirmed', now);
  }
  if (scenario.record.status === 'cancelled') scenario.reopenShipment();
}

function getScenarioShipmentOrThrow({ state }: ShipmentScenario): ShipmentState {
  if (state === undefined) throw new Error('there is no shipment');
  return state;
}
