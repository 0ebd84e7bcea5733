import { ConflictError, type Shipment, type TrackingClient, type Warning } from '@tracking/client';
import { isOutdated } from '../../app/failures.ts';
import { type Conflict, conflictOf } from './conflict.ts';
import { type ShipmentValues, patchOf, valuesOf } from './form-values.ts';

/** Versions that may come in between, of which none is about the form, before that counts as a failure. */
const MOST_TRIES = 5;
const HISTORY = 200;
/** Between reads, until one shows the version that stood in the way: reads of others' writes may be a moment behind. */
const BEHIND_MS = 200;
const MOST_READS = 25;

export type Saved =
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
