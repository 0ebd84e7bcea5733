import { ConflictError, type Shipment, type TrackingClient, type Warning, type ItemOf } from '@tracking/client';
import { isOutdated } from '../../app/failures.ts';
import {
  type ShipmentValues,
  patchOf,
  valuesOf,
  SHIPMENT_FIELDS,
  type ShipmentField,
  changedFields,
} from './form-values.ts';

/** Versions that may come in between, of which none is about the form, before that counts as a failure. */
const MOST_TRIES = 5;
const HISTORY = 200;
/** Between reads, until one shows the version that stood in the way: reads of others' writes may be a moment behind. */
const BEHIND_MS = 200;
const MOST_READS = 25;

type Saved =
  | { readonly kind: 'saved'; readonly warnings: readonly Warning[] }
  | { readonly kind: 'conflict'; readonly conflict: Conflict };

type Api = Pick<TrackingClient, 'shipments'>;

/**
 * Saves what a form changed of a shipment, if nobody changed it since. What happened to it that is of no field of the form, as a
 * milestone, stands in nobody's way.
 * @throws what the API answers otherwise
 */
export async function saveShipment(api: Api, base: Shipment, values: ShipmentValues): Promise<Saved> {
  const changes = patchOf(valuesOf(base), values);
  let seen = base.version;
  for (let tries = 1; ; tries += 1) {
    try {
      const { warnings } = await api.shipments.patch(base.id, changes, { ifMatch: `"${seen}"` });
      return { kind: 'saved', warnings };
    } catch (error) {
      if (!(error instanceof ConflictError) || !isOutdated(error)) throw error;
      const conflict = await readConflict(api, base, values, versionOf(error.headers['etag']));
      const { both, others, own, theirs } = conflict;
      // As where the answer to the first try was lost.
      if (both.length + own.length === 0) return { kind: 'saved', warnings: [] };
      if (both.length + others.length > 0) return { kind: 'conflict', conflict };
      if (tries === MOST_TRIES) throw error;
      seen = theirs.version;
    }
  }
}

/** What others did to it since. @param least the version that is known to be there */
export async function readConflict(api: Api, base: Shipment, values: ShipmentValues, least: number): Promise<Conflict> {
  let theirs = await api.shipments.get(base.id);
  for (let reads = 1; theirs.version < least && reads < MOST_READS; reads += 1) {
    await new Promise((resolve) => setTimeout(resolve, BEHIND_MS));
    theirs = await api.shipments.get(base.id);
  }
  const { data: history } = await api.shipments.history(base.id, { limit: HISTORY }).page();
  return conflictOf(base, values, theirs, history);
}

function versionOf(etag: string | undefined): number {
  return Number(etag?.replaceAll('"', '') ?? 0);
}

type HistoryEntry = ItemOf<'listShipmentHistory'>;
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
