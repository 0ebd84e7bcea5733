import {
  type Container,
  DomainError,
  type FieldError,
  type Leg,
  type LegFields,
  type Party,
  type PlaceLookup,
  type ClientShipmentFields,
  type ShipmentRecord,
  type TimeOrDay,
  type Warning,
} from '@tracking/contracts';
import { computeAnnouncedChanges, isSameJson, type ClientContainerFields } from '../changes.ts';
import { isBeforeEarliestDate, TIME_OUT_OF_RANGE_ERROR } from '../check-milestone.ts';
import { checkShipmentFields } from '../check-shipment.ts';
import { createShipmentChangedEvent } from '../changed-event.ts';
import { deriveShipment } from '../derive.ts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import { reconcileExceptions } from '../exceptions/reconcile.ts';
import { getTimeZoneOfPort, getTimePrecision, convertStatedDateToTime } from '../local-time.ts';
import type { ShipmentState } from '../state.ts';
import {
  type CommandContext,
  type CommandHandler,
  type DecideContext,
  type Decision,
  warnOfCancelledShipment,
} from './command.ts';
import { decideShipmentUpdate } from './update.ts';

/**
 * Changes single fields of a shipment as a JSON merge patch (RFC 7396): absent fields keep their value, objects are
 * merged, null clears, arrays are replaced.
 */
export interface PatchShipmentCommand extends CommandContext {
  readonly type: 'PatchShipment';
  readonly shipment_id: string;
  readonly patch: ShipmentPatch;
}

/** Fields with correct types, in the form that `checkShipmentFields` returns. */
export type ShipmentPatch = Partial<Omit<ClientShipmentFields, keyof MergedPatchFields>> & {
  readonly [Name in keyof MergedPatchFields]?: MergedPatchFields[Name] | null;
} & { readonly original_eta?: TimeOrDay | null };

/** Fields whose values are objects. A patch may contain only some members of these objects. */
interface MergedPatchFields {
  readonly shipper: Partial<Party>;
  readonly consignee: Partial<Party>;
  readonly metadata: Readonly<Record<string, string | null>>;
}

interface ShipmentPatchResult {
  /** `unchanged`: the fields had these values already. */
  readonly outcome: 'updated' | 'unchanged';
}
export interface ShipmentPatchAnswer extends ShipmentPatchResult {
  readonly shipment: ShipmentRecord;
  readonly warnings: readonly Warning[];
}
export type PatchDecision = Decision<ShipmentPatchResult>;

export const patchShipmentHandler: CommandHandler<
  PatchShipmentCommand,
  ShipmentPatchResult,
  Omit<ShipmentPatchAnswer, 'warnings'>
> = {
  decideCommandOnExistingShipment: decideShipmentPatch,
  rebuildResultFromEvents: () => ({ outcome: 'updated' }),
  buildAnswerFromResult: ({ outcome }, { record }) => ({ outcome, shipment: record }),
};

/**
 * Decides on a patch. `etd`, `eta` and `legs` of the patch are new statements even if they equal the last sent values,
 * unless they repeat the statements that apply. They change `eta` even after the arrival. The values of the last upsert
 * are kept, so that a nightly upsert with the same values does not undo the patch.
 */
function decideShipmentPatch(
  command: PatchShipmentCommand,
  state: ShipmentState,
  context: DecideContext,
): PatchDecision {
  const before = state.record;
  const { original_eta, ...patch } = command.patch;
  const fields = mergeShipmentPatch(before, patch);
  const mode = fields.mode === undefined ? before.mode : fields.mode;
  const checked = checkShipmentFields(fields, mode, context.places, command.strict);
  const { etd, eta, legs } = checked.fields;
  return decideShipmentUpdate(command, state, context, {
    checked: { ...checked, errors: [...checked.errors, ...listOriginalEtaRangeErrors(original_eta)] },
    times: {
      ...(etd !== undefined && !isTimeRepeatedByClient(state, 'etd', etd, context.places) && { etd }),
      ...(eta !== undefined && !isTimeRepeatedByClient(state, 'eta', eta, context.places) && { eta }),
      ...(legs !== undefined && !areLegsUnchangedSinceLastSent(state, legs, context.places) && { legs }),
    },
    sent: state.sent,
    ...(original_eta !== undefined && { newOriginalEta: original_eta }),
    movesEtaAfterArrival: true,
  });
}

function listOriginalEtaRangeErrors(value: TimeOrDay | null | undefined): readonly FieldError[] {
  return value != null && isBeforeEarliestDate(value) ? [{ param: 'original_eta', ...TIME_OUT_OF_RANGE_ERROR }] : [];
}

/** Returns true if the client states the time that it stated last, and no estimate is newer. */
function isTimeRepeatedByClient(
  state: ShipmentState,
  time: 'etd' | 'eta',
  value: TimeOrDay | null,
  places: PlaceLookup,
): boolean {
  const { schedule, record } = state;
  const { legs, [time]: stated } = schedule;
  const leg = time === 'etd' ? legs.value[0] : legs.value.at(-1);
  const applies = hasShipmentOrLegGivenTime(record, time, value ?? leg?.[time] ?? null, places);
  return value === stated.value && applies && !hasEstimateWrittenAfterRevision(state, stated.written);
}

/** Returns true if the client states the legs that it stated last, and no estimate is newer. */
function areLegsUnchangedSinceLastSent(state: ShipmentState, legs: readonly LegFields[], places: PlaceLookup): boolean {
  const { schedule, record } = state;
  const { value, written } = schedule.legs;
  const apply = legs.every(({ etd, eta }, index) => {
    const leg = record.legs[index];
    return (
      leg !== undefined &&
      hasShipmentOrLegGivenTime(leg, 'etd', etd, places) &&
      hasShipmentOrLegGivenTime(leg, 'eta', eta, places)
    );
  });
  const since = Math.min(...written.flatMap((leg) => [leg.etd, leg.eta]));
  return apply && isSameJson(legs, value) && !hasEstimateWrittenAfterRevision(state, since);
}

/** Returns true if a shipment or leg has the time or day. */
function hasShipmentOrLegGivenTime(
  journey: ShipmentRecord | Leg,
  time: 'etd' | 'eta',
  given: TimeOrDay | null,
  places: PlaceLookup,
): boolean {
  const port = time === 'etd' ? journey.origin_port : journey.destination_port;
  const stated = convertStatedDateToTime(given, getTimeZoneOfPort(port, places));
  return journey[time] === stated.value && journey[`${time}_precision`] === getTimePrecision(stated);
}

function hasEstimateWrittenAfterRevision({ timeline, droppedEstimates }: ShipmentState, revision: number): boolean {
  for (const { lastWritten } of droppedEstimates.values()) if (lastWritten > revision) return true;
  return timeline.some(
    ({ milestone, written }) =>
      milestone.classifier === 'estimated' && milestone.retracted_at === null && written > revision,
  );
}

/** Returns the patch with its objects merged into the objects of the shipment. */
function mergeShipmentPatch(
  before: ShipmentRecord,
  { shipper, consignee, metadata, ...others }: Omit<ShipmentPatch, 'original_eta'>,
): Partial<ClientShipmentFields> {
  return {
    ...others,
    ...(shipper !== undefined && { shipper: mergeParty(before.shipper, shipper) }),
    ...(consignee !== undefined && { consignee: mergeParty(before.consignee, consignee) }),
    ...(metadata !== undefined && { metadata: mergeMetadataPatch(before.metadata, metadata) }),
  };
}

function mergeParty(before: Party | null, patch: Partial<Party> | null): Party | null {
  return patch === null ? null : { name: null, external_id: null, ...before, ...patch };
}

/** The metadata are in a Map, because `__proto__` is an allowed name. */
function mergeMetadataPatch(
  before: ShipmentRecord['metadata'],
  patch: MergedPatchFields['metadata'] | null,
): ShipmentRecord['metadata'] {
  if (patch === null) return null;
  const strings = new Map(Object.entries(before ?? {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) strings.delete(name);
    else strings.set(name, value);
  }
  return Object.fromEntries(strings);
}

/** Sets the fields of a container that only clients set. Absent fields keep their value, null clears. */
export interface PatchContainerCommand extends CommandContext {
  readonly type: 'PatchContainer';
  readonly shipment_id: string;
  /** Container number, normalised. */
  readonly number: string;
  readonly patch: Partial<ClientContainerFields>;
}

interface ContainerPatchResult {
  /** `unchanged`: the fields had these values already. */
  readonly outcome: 'updated' | 'unchanged';
  readonly number: string;
}
export interface ContainerPatchAnswer extends Pick<ContainerPatchResult, 'outcome'> {
  readonly container: Container;
  /** Version of the shipment right after the command. */
  readonly shipment_version: number;
  readonly warnings: readonly Warning[];
}
export type ContainerPatchDecision = Decision<ContainerPatchResult>;

export const patchContainerHandler: CommandHandler<
  PatchContainerCommand,
  ContainerPatchResult,
  Omit<ContainerPatchAnswer, 'warnings'>
> = {
  decideCommandOnExistingShipment: decideContainerPatch,
  rebuildResultFromEvents: (_, { number }) => ({ outcome: 'updated', number }),
  buildAnswerFromResult({ outcome, number }, { record }) {
    const container = record.containers.find((each) => each.number === number);
    if (container === undefined) throw new Error(`cannot build the answer: the shipment has no container ${number}`);
    return { outcome, container, shipment_version: record.version };
  },
};

/** @throws DomainError `not_found` if the shipment does not have the container of the command */
export function throwIfContainerUnknown({ number }: PatchContainerCommand, { record }: ShipmentState): void {
  if (record.container_numbers.includes(number)) return;
  throw new DomainError('not_found', 'The shipment has no such container.');
}

function decideContainerPatch(
  command: PatchContainerCommand,
  state: ShipmentState,
  context: DecideContext,
): ContainerPatchDecision {
  const { number, patch, at } = command;
  const before = state.record;
  const containers = before.containers.map((each) => (each.number === number ? { ...each, ...patch } : each));
  const derived = deriveShipment({ ...state, record: { ...before, containers } }, context.places);
  const changes = computeAnnouncedChanges(before, derived.record);
  const events: ShipmentEventBody[] = changes === undefined ? [] : [createShipmentChangedEvent(changes, derived)];
  const reconciled = reconcileExceptions(state, { derived, timeline: state.timeline, events }, { ...context, at });
  const outcome = reconciled.events.length === 0 ? 'unchanged' : 'updated';
  return { outcome, number, warnings: warnOfCancelledShipment(before, derived.record), ...reconciled };
}
