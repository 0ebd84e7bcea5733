import type { EtaChange, EtaOrigin, ShipmentException } from '@tracking/contracts';
import type { EventStore, StoredEvent } from '@tracking/ports';
import {
  readExceptionChange,
  isWholeExceptionInChange,
  toPublicEventId,
  findHistoryNoteOfEvent,
  convertMsToRoundedHours,
  upcastStoredShipmentEvent,
} from '@tracking/shipments-domain';
import type { PageEnd, ReadPage, UnnamedHistoryEntry } from './shipment-reads.ts';

/**
 * Returns the history entry of an event; undefined if there is none.
 * @param findException finds a resolved exception, which never changes again
 */
export async function toHistoryEntry(
  stored: StoredEvent,
  findException: (id: string) => Promise<ShipmentException | undefined>,
): Promise<UnnamedHistoryEntry | undefined> {
  const event = upcastStoredShipmentEvent(stored);
  const change = readExceptionChange(event);
  const needed = change !== undefined && !isWholeExceptionInChange(change);
  const note = findHistoryNoteOfEvent(event, needed ? await findException(change.id) : undefined);
  if (note === undefined) return undefined;
  const { recorded_at: at, actor } = event.metadata;
  const by = { type: actor.type, id: actor.id };
  return {
    id: toPublicEventId(stored.id),
    type: note.type,
    at,
    actor: by,
    changes: note.changes,
    version: event.revision + 1,
  };
}

/** Returns the change that an event makes to the shipment's ETA; undefined if it makes none. */
export function toEtaChangeOfEvent(stored: StoredEvent): EtaChange | undefined {
  const event = upcastStoredShipmentEvent(stored);
  const { recorded_at: reported_at } = event.metadata;
  if (event.type === 'shipment.created.v1') {
    const { eta, eta_precision } = event.data.shipment;
    if (eta === null) return undefined;
    return { eta, eta_precision, previous_eta: null, slip_hours: null, reported_at, ...CLIENT_ETA_ORIGIN };
  }
  if (event.type !== 'shipment.changed.v1' || event.data.changes.eta === undefined) return undefined;
  const { from: previous_eta, to: eta } = event.data.changes.eta;
  const { eta_set_by, eta_by_day: byDay } = event.data;
  const { source, milestone_id, reason_code } = eta_set_by ?? CLIENT_ETA_ORIGIN;
  return {
    eta,
    eta_precision: byDay?.precision ?? 'time',
    previous_eta,
    slip_hours: byDay === undefined ? computeHoursFromPreviousToNewEta(previous_eta, eta) : byDay.slip_hours,
    reported_at,
    source,
    milestone_id,
    reason_code,
  };
}

const CLIENT_ETA_ORIGIN: EtaOrigin = { source: 'client', milestone_id: null, reason_code: null };

function computeHoursFromPreviousToNewEta(from: string | null, to: string | null): number | null {
  if (from === null || to === null) return null;
  return convertMsToRoundedHours(Date.parse(to) - Date.parse(from));
}

/** Maximum number of events per read. An event has up to 1 MB. */
const MAX_EVENTS_PER_READ = 32;
/**
 * Maximum number of events that one page reads. Reading an event that is not listed costs as much as reading a listed
 * one.
 */
const MAX_EVENTS_PER_PAGE = 2_000;
/** Maximum size of a page in bytes of JSON. The first item that exceeds it ends the page. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** Converts an event to a list item; undefined for an event that is not listed. */
export type ToItem<T> = (event: StoredEvent) => T | undefined | Promise<T | undefined>;

/**
 * Returns a page of items from the events of a stream, newest first. Reads only the events of the page. Large items end
 * the page early.
 */
export async function readStreamPageBackwards<T>(
  store: EventStore,
  stream: string,
  { limit, after }: { readonly limit: number; readonly after?: PageEnd | undefined },
  toItem: ToItem<T>,
): Promise<ReadPage<T>> {
  const last = after === undefined ? await store.readLastRevision(stream) : Number(after[0]) - 1;
  const items: T[] = [];
  let bytes = 0;
  let next = last ?? -1;
  const stop = next - MAX_EVENTS_PER_PAGE;
  for await (const event of readStreamBackwards(store, stream, next)) {
    next = event.revision - 1;
    const item = await toItem(event);
    if (item !== undefined) {
      items.push(item);
      bytes += Buffer.byteLength(JSON.stringify(item));
    }
    if (items.length === limit || bytes > MAX_PAGE_BYTES || next <= stop) break;
  }
  return { items, next: next >= 0 ? [next + 1] : null };
}

async function* readStreamBackwards(store: EventStore, stream: string, last: number): AsyncIterable<StoredEvent> {
  for (let to = last; to >= 0; to -= MAX_EVENTS_PER_READ) {
    const events = await store.read(stream, { from: Math.max(0, to - MAX_EVENTS_PER_READ + 1), to });
    yield* events.toReversed();
  }
}
