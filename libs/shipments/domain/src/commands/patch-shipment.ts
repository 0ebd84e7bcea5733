import type { Party, ShipmentFields, ShipmentRecord, Timestamp, Warning } from '@tracking/contracts';
import { checkShipmentFields } from '../check-shipment.ts';
import type { ShipmentState } from '../state.ts';
import type { CommandContext, CommandHandler, DecideContext, Decision } from './command.ts';
import { decideUpdate } from './update.ts';

/**
 * Changes single fields of a shipment, as RFC 7396 merges: what is absent stays, objects merge, null clears, arrays
 * replace.
 */
export interface PatchShipment extends CommandContext {
  readonly type: 'PatchShipment';
  readonly shipment_id: string;
  readonly patch: ShipmentPatch;
}

/** Of the right types, and in the form that `checkShipmentFields` answers. */
export type ShipmentPatch = Partial<Omit<ShipmentFields, keyof MergedFields>> & {
  readonly [Name in keyof MergedFields]?: MergedFields[Name] | null;
} & { readonly original_eta?: Timestamp | null };

/** Objects, of which a patch may hold some members. */
interface MergedFields {
  readonly shipper: Partial<Party>;
  readonly consignee: Partial<Party>;
  readonly metadata: Readonly<Record<string, string | null>>;
}

interface PatchResult {
  /** `unchanged`: it was so already. */
  readonly outcome: 'updated' | 'unchanged';
}
export interface ShipmentPatchAnswer extends PatchResult {
  readonly shipment: ShipmentRecord;
  readonly warnings: readonly Warning[];
}
export type PatchDecision = Decision<PatchResult>;

export const patchShipment: CommandHandler<PatchShipment, PatchResult, Omit<ShipmentPatchAnswer, 'warnings'>> = {
  decide,
  resultOf: () => ({ outcome: 'updated' }),
  answer: ({ outcome }, { record }) => ({ outcome, shipment: record }),
};

/**
 * `etd`, `eta` and `legs` are new statements also where they are what was sent last, and move `eta` also after the
 * arrival. What the last upsert sent stays known: the plan that a nightly resend repeats does not come back.
 */
function decide(command: PatchShipment, state: ShipmentState, context: DecideContext): PatchDecision {
  const before = state.record;
  const { original_eta, ...patch } = command.patch;
  const fields = merged(before, patch);
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

/** With its objects as they are when it is merged into what is there. */
function merged(
  before: ShipmentRecord,
  { shipper, consignee, metadata, ...others }: Omit<ShipmentPatch, 'original_eta'>,
): Partial<ShipmentFields> {
  return {
    ...others,
    ...(shipper !== undefined && { shipper: mergedParty(before.shipper, shipper) }),
    ...(consignee !== undefined && { consignee: mergedParty(before.consignee, consignee) }),
    ...(metadata !== undefined && { metadata: mergedStrings(before.metadata, metadata) }),
  };
}

function mergedParty(before: Party | null, patch: Partial<Party> | null): Party | null {
  return patch === null ? null : { name: null, external_id: null, ...before, ...patch };
}

/** Whatever the names: `__proto__` is one like any other. */
function mergedStrings(
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
