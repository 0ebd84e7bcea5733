import {
  type Container,
  DomainError,
  type Party,
  type ShipmentFields,
  type ShipmentRecord,
  type Timestamp,
  type Warning,
} from '@tracking/contracts';
import { findChanges, type ClientContainerFields } from '../changes.ts';
import { checkShipmentFields } from '../check-shipment.ts';
import { deriveShipment } from '../derive.ts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import { reconcileExceptions } from '../exceptions/reconcile.ts';
import type { ShipmentState } from '../state.ts';
import {
  type CommandContext,
  type CommandHandler,
  type DecideContext,
  type Decision,
  warnOfCancelledShipment,
} from './command.ts';
import { decideUpdate } from './update.ts';

/**
 * Changes single fields of a shipment as a JSON merge patch (RFC 7396): absent fields keep their value, objects are
 * merged, null clears, arrays are replaced.
 */
export interface PatchShipment extends CommandContext {
  readonly type: 'PatchShipment';
  readonly shipment_id: string;
  readonly patch: ShipmentPatch;
}

/** Fields with correct types, in the form that `checkShipmentFields` returns. */
export type ShipmentPatch = Partial<Omit<ShipmentFields, keyof MergedFields>> & {
  readonly [Name in keyof MergedFields]?: MergedFields[Name] | null;
} & { readonly original_eta?: Timestamp | null };

/** Fields whose values are objects. A patch may contain only some members of these objects. */
interface MergedFields {
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

export const patchShipment: CommandHandler<
  PatchShipment,
  ShipmentPatchResult,
  Omit<ShipmentPatchAnswer, 'warnings'>
> = {
  decide: decideShipmentPatch,
  resultOf: () => ({ outcome: 'updated' }),
  answer: ({ outcome }, { record }) => ({ outcome, shipment: record }),
};

/**
 * Decides on a patch. `etd`, `eta` and `legs` of the patch are new statements even if they equal the last sent values.
 * They change `eta` even after the arrival. The values of the last upsert are kept, so that a nightly upsert with the
 * same values does not undo the patch.
 */
function decideShipmentPatch(command: PatchShipment, state: ShipmentState, context: DecideContext): PatchDecision {
  const before = state.record;
  const { original_eta, ...patch } = command.patch;
  const fields = mergePatch(before, patch);
  const mode = fields.mode === undefined ? before.mode : fields.mode;
  const checked = checkShipmentFields(fields, mode, context.places, command.strict);
  const { etd, eta, legs } = checked.fields;
  return decideUpdate(command, state, context, {
    checked,
    times: {
      ...(etd !== undefined && { etd }),
      ...(eta !== undefined && { eta }),
      ...(legs !== undefined && { legs }),
    },
    sent: state.sent,
    ...(original_eta !== undefined && { also: { original_eta } }),
    movesEtaAfterArrival: true,
  });
}

/** Returns the patch with its objects merged into the objects of the shipment. */
function mergePatch(
  before: ShipmentRecord,
  { shipper, consignee, metadata, ...others }: Omit<ShipmentPatch, 'original_eta'>,
): Partial<ShipmentFields> {
  return {
    ...others,
    ...(shipper !== undefined && { shipper: mergeParty(before.shipper, shipper) }),
    ...(consignee !== undefined && { consignee: mergeParty(before.consignee, consignee) }),
    ...(metadata !== undefined && { metadata: mergeStrings(before.metadata, metadata) }),
  };
}

function mergeParty(before: Party | null, patch: Partial<Party> | null): Party | null {
  return patch === null ? null : { name: null, external_id: null, ...before, ...patch };
}

/** The metadata are in a Map, because `__proto__` is an allowed name. */
function mergeStrings(
  before: ShipmentRecord['metadata'],
  patch: MergedFields['metadata'] | null,
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
export interface PatchContainer extends CommandContext {
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

export const patchContainer: CommandHandler<
  PatchContainer,
  ContainerPatchResult,
  Omit<ContainerPatchAnswer, 'warnings'>
> = {
  decide: decideContainerPatch,
  resultOf: (_, { number }) => ({ outcome: 'updated', number }),
  answer({ outcome, number }, { record }) {
    const container = record.containers.find((each) => each.number === number);
    if (container === undefined) throw new Error(`cannot build the answer: the shipment has no container ${number}`);
    return { outcome, container, shipment_version: record.version };
  },
};

/** Returns the container of the command. @throws DomainError `not_found` if the shipment has no such container */
export function requireContainer({ number }: PatchContainer, { record }: ShipmentState): void {
  if (record.container_numbers.includes(number)) return;
  throw new DomainError('not_found', 'The shipment has no such container.');
}

function decideContainerPatch(
  command: PatchContainer,
  state: ShipmentState,
  context: DecideContext,
): ContainerPatchDecision {
  const { number, patch, at } = command;
  const before = state.record;
  const containers = before.containers.map((each) => (each.number === number ? { ...each, ...patch } : each));
  const basis = { ...state, record: { ...before, containers }, revision: before.version };
  const derived = deriveShipment(basis, context.places);
  const changes = findChanges(before, derived.record);
  const events: ShipmentEventBody[] = changes === undefined ? [] : [{ type: 'shipment.changed.v1', data: { changes } }];
  const reconciled = reconcileExceptions(state, { derived, timeline: state.timeline, events }, { ...context, at });
  const outcome = reconciled.events.length === 0 ? 'unchanged' : 'updated';
  return { outcome, number, warnings: warnOfCancelledShipment(before, derived.record), ...reconciled };
}
