import type { EtaChange, EtaSetBy, ShipmentException } from '@tracking/contracts';
import type { EventStore, StoredEvent } from '@tracking/ports';
import { exceptionChange, isWholeException, publicEventId, tellOf, toShipmentEvent } from '@tracking/shipments-domain';
import type { PageEnd, ReadPage, UnnamedHistoryEntry } from './shipment-reads.ts';

/**
 * What an event tells of the shipment's history.
 * @param findException a resolved exception, which never changes again
 */
export async function historyEntry(
  stored: StoredEvent,
  findException: (id: string) => Promise<ShipmentException | undefined>,
): Promise<UnnamedHistoryEntry | undefined> {
  const event = toShipmentEvent(stored);
  const change = exceptionChange(event);
  const needed = change !== undefined && !isWholeException(change);
  const told = tellOf(event, needed ? await findException(change.id) : undefined);
  if (told === undefined) return undefined;
  const { recorded_at: at, actor } = event.metadata;
  const by = { type: actor.type, id: actor.id };
  return {
    id: publicEventId(stored.id),
    type: told.type,
    at,
    actor: by,
    changes: told.changes,
    version: event.revision + 1,
  };
}

/** What an event tells of the shipment's eta. */
export function etaChange(stored: StoredEvent): EtaChange | undefined {
  const event = toShipmentEvent(stored);
  const { recorded_at: reported_at } = event.metadata;
  if (event.type === 'shipment.created.v1') {
    const { eta } = event.data.shipment;
    return eta === null ? undefined : { eta, previous_eta: null, slip_hours: null, reported_at, ...BY_CLIENT };
  }
  if (event.type !== 'shipment.changed.v1' || event.data.changes.eta === undefined) return undefined;
  const { from: previous_eta, to: eta } = event.data.changes.eta;
  const { source, milestone_id, reason_code } = event.data.eta_set_by ?? BY_CLIENT;
  return { eta, previous_eta, slip_hours: slip(previous_eta, eta), reported_at, source, milestone_id, reason_code };
}

const BY_CLIENT: EtaSetBy = { source: 'client', milestone_id: null, reason_code: null };
const HOUR_MS = 3_600_000;

function slip(from: string | null, to: string | null): number | null {
  if (from === null || to === null) return null;
  return Math.round(((Date.parse(to) - Date.parse(from)) / HOUR_MS) * 100) / 100;
}

/** Events read at a time. */
const PIECE = 100;
/** Most events read for one page: events that are not listed cost as much. */
const PER_PAGE = 2_000;

/** Makes a list item of an event; undefined for an event that is not listed. */
export type ItemOf<T> = (event: StoredEvent) => T | undefined | Promise<T | undefined>;

/** A page of items made of the events of a stream, the newest first. Reads only the part of the stream that the page covers. */
export async function pageBackwards<T>(
  store: EventStore,
  stream: string,
  page: { readonly limit: number; readonly after?: PageEnd | undefined },
  itemOf: ItemOf<T>,
): Promise<ReadPage<T>> {
  const last = page.after === undefined ? await store.lastRevision(stream) : Number(page.after[0]) - 1;
  const items: T[] = [];
  let place = last ?? -1;
  const stop = place - PER_PAGE;
  while (place >= 0 && place > stop) {
    const first = Math.max(0, place - PIECE + 1);
    const events = await store.read(stream, { from: first, to: place });
    for (const event of events.toReversed()) {
      const item = await itemOf(event);
      if (item === undefined) continue;
      items.push(item);
      if (items.length === page.limit) return { items, next: event.revision > 0 ? [event.revision] : null };
    }
    place = first - 1;
  }
  return { items, next: place >= 0 ? [place + 1] : null };
}
