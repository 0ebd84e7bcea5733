import type { Shipment, ItemOf } from '@tracking/client';
import { SHIPMENT_FIELDS, type ShipmentField, type ShipmentValues, changedFields, valuesOf } from './form-values.ts';

export type HistoryEntry = ItemOf<'listShipmentHistory'>;
/** Whose value of a field is kept. */
export type Choice = 'mine' | 'theirs';

export interface FieldChange {
  readonly field: ShipmentField;
  /** Who changed it last, and when; undefined where the history does not tell. */
  readonly by: Pick<HistoryEntry, 'actor' | 'at'> | undefined;
}

/** What happened to a shipment while somebody filled in a form about it. */
export interface Conflict {
  /** As it is now: what is saved next is a change of this. */
  readonly theirs: Shipment;
  /** Fields that both changed, each to something else: somebody has to choose. */
  readonly both: readonly FieldChange[];
  /** Fields that only others changed: they stay as they are now. */
  readonly others: readonly FieldChange[];
  /** Fields that only the form changes. */
  readonly own: readonly ShipmentField[];
}

/**
 * @param base the shipment as it was when the form was opened
 * @param mine the form as it is filled in
 * @param history of the shipment, the newest first
 */
export function conflictOf(
  base: Shipment,
  mine: ShipmentValues,
  theirs: Shipment,
  history: readonly HistoryEntry[],
): Conflict {
  const [before, now] = [valuesOf(base), valuesOf(theirs)];
  const [byMe, byThem] = [changedFields(before, mine), changedFields(before, now)];
  const differing = new Set(changedFields(mine, now));
  const since = history.filter(({ version }) => version > base.version);
  const told = (field: ShipmentField): FieldChange => ({
    field,
    by: since.find(({ changes }) => Object.hasOwn(changes, field)),
  });
  return {
    theirs,
    both: byThem.filter((field) => byMe.includes(field) && differing.has(field)).map(told),
    others: byThem.filter((field) => !byMe.includes(field)).map(told),
    own: byMe.filter((field) => !byThem.includes(field)),
  };
}

/** The form as it is to be saved on top of what others did. */
export function merged(
  mine: ShipmentValues,
  { theirs, both, own }: Conflict,
  choices: Readonly<Partial<Record<ShipmentField, Choice>>>,
): ShipmentValues {
  const kept = new Set([...own, ...both.map(({ field }) => field).filter((field) => choices[field] !== 'theirs')]);
  const now = valuesOf(theirs);
  const entries = SHIPMENT_FIELDS.map((field) => [field, (kept.has(field) ? mine : now)[field]]);
  return Object.fromEntries(entries) as ShipmentValues;
}

/** Who did it, in words. */
export function actorName({ type, name }: HistoryEntry['actor']): string {
  return name ?? { user: 'Somebody', service_account: 'A system', system: 'The platform' }[type];
}
