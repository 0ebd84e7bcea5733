import { ConflictError, type ItemOf, type Shipment, type TrackingClient, type Warning } from '@tracking/client';
import { isOutdatedVersionError } from '../../app/failures.ts';
import {
  SHIPMENT_FIELD_NAMES,
  type ShipmentField,
  type ShipmentFormValues,
  listChangedFields,
  buildShipmentPatch,
  toShipmentFormValues,
} from './form-values.ts';

/**
 * Maximum number of attempts to save. An attempt fails if another user has changed any part of the shipment since the
 * last read.
 */
const MAX_SAVE_ATTEMPTS = 5;
const MAX_HISTORY_ENTRIES_CHECKED_FOR_CONFLICT = 200;
/**
 * Milliseconds between two reads of the shipment. Reads may lag behind writes, so the shipment is read until the API
 * returns the conflicting version.
 */
const REREAD_DELAY_MS = 200;
const MAX_SHIPMENT_REREADS = 25;

type Saved =
  | { readonly kind: 'saved'; readonly warnings: readonly Warning[] }
  | { readonly kind: 'conflict'; readonly conflict: ShipmentEditConflict };

type Api = Pick<TrackingClient, 'shipments'>;

/**
 * Saves the changes of a form. If another user has changed the same fields, nothing is saved, and the result is a
 * conflict. Changes to other parts of the shipment, such as a new milestone, are no conflict.
 * @throws ApiError or ConnectionError of the client
 */
export async function saveShipmentChangesOrFindConflict(
  api: Api,
  base: Shipment,
  values: ShipmentFormValues,
): Promise<Saved> {
  const changes = buildShipmentPatch(toShipmentFormValues(base), values);
  let seen = base.version;
  for (let tries = 1; ; tries += 1) {
    try {
      const { warnings } = await api.shipments.patch(base.id, changes, { ifMatch: `"${seen}"` });
      return { kind: 'saved', warnings };
    } catch (error) {
      if (!(error instanceof ConflictError) || !isOutdatedVersionError(error)) throw error;
      const conflict = await readConcurrentShipmentChanges(
        api,
        base,
        values,
        parseVersionFromETag(error.headers['etag']),
      );
      const { both, others, own, theirs } = conflict;
      // If the shipment already contains all changes, an earlier attempt was saved and only its response was lost.
      if (both.length + own.length === 0) return { kind: 'saved', warnings: [] };
      if (both.length + others.length > 0) return { kind: 'conflict', conflict };
      if (tries === MAX_SAVE_ATTEMPTS) throw error;
      seen = theirs.version;
    }
  }
}

/** Reads the changes that other users made to the shipment. @param least the minimum version of the shipment to read */
export async function readConcurrentShipmentChanges(
  api: Api,
  base: Shipment,
  values: ShipmentFormValues,
  least: number,
): Promise<ShipmentEditConflict> {
  let theirs = await api.shipments.get(base.id);
  for (let reads = 1; theirs.version < least && reads < MAX_SHIPMENT_REREADS; reads += 1) {
    await new Promise((resolve) => setTimeout(resolve, REREAD_DELAY_MS));
    theirs = await api.shipments.get(base.id);
  }
  const { data: history } = await api.shipments
    .history(base.id, { limit: MAX_HISTORY_ENTRIES_CHECKED_FOR_CONFLICT })
    .page();
  return findShipmentEditConflict(base, values, theirs, history);
}

function parseVersionFromETag(etag: string | undefined): number {
  return Number(etag?.replaceAll('"', '') ?? 0);
}

type HistoryEntry = ItemOf<'listShipmentHistory'>;
/** Value to keep in a conflicting field: the user’s value, or the value of the other user. */
export type Choice = 'mine' | 'theirs';

export interface ConcurrentFieldChange {
  readonly field: ShipmentField;
  /** Author and time of the last change to the field. Undefined if the history does not contain the change. */
  readonly by: Pick<HistoryEntry, 'actor' | 'at'> | undefined;
}

/** Changes that other users saved while the shipment form was open. */
export interface ShipmentEditConflict {
  /** Latest version of the shipment. The next attempt to save is based on this version. */
  readonly theirs: Shipment;
  /** Fields that the user and another user changed to different values. The user chooses between the two values. */
  readonly both: readonly ConcurrentFieldChange[];
  /** Fields that only other users have changed. The form keeps the current values of these fields. */
  readonly others: readonly ConcurrentFieldChange[];
  /** Fields that only the user of this form has changed. */
  readonly own: readonly ShipmentField[];
}

/**
 * Compares the values of the form with the changes of other users, field by field.
 * @param base the shipment when the form was opened
 * @param mine the current values of the form
 * @param history entries of the shipment, newest first
 */
export function findShipmentEditConflict(
  base: Shipment,
  mine: ShipmentFormValues,
  theirs: Shipment,
  history: readonly HistoryEntry[],
): ShipmentEditConflict {
  const [before, now] = [toShipmentFormValues(base), toShipmentFormValues(theirs)];
  const [byMe, byThem] = [listChangedFields(before, mine), listChangedFields(before, now)];
  const differing = new Set(listChangedFields(mine, now));
  const since = history.filter(({ version }) => version > base.version);
  const fieldChange = (field: ShipmentField): ConcurrentFieldChange => ({
    field,
    by: since.find(({ changes }) => Object.hasOwn(changes, field)),
  });
  return {
    theirs,
    both: byThem.filter((field) => byMe.includes(field) && differing.has(field)).map(fieldChange),
    others: byThem.filter((field) => !byMe.includes(field)).map(fieldChange),
    own: byMe.filter((field) => !byThem.includes(field)),
  };
}

/** Merges the values of the form with the changes of other users. The user's choices decide the conflicting fields. */
export function mergeFormWithOtherChanges(
  mine: ShipmentFormValues,
  { theirs, both, own }: ShipmentEditConflict,
  choices: Readonly<Partial<Record<ShipmentField, Choice>>>,
): ShipmentFormValues {
  const kept = new Set([...own, ...both.map(({ field }) => field).filter((field) => choices[field] !== 'theirs')]);
  const now = toShipmentFormValues(theirs);
  const entries = SHIPMENT_FIELD_NAMES.map((field) => [field, (kept.has(field) ? mine : now)[field]]);
  return Object.fromEntries(entries) as ShipmentFormValues;
}

/** Returns the display name of the actor of a history entry. */
export function getActorName({ type, name }: HistoryEntry['actor']): string {
  return name ?? { user: 'Another user', service_account: 'A service account', system: 'The system' }[type];
}
