import {
  DomainError,
  type Environment,
  type EventPage,
  type ExportedEvent,
  type ImportConflict,
  type EventImportResult,
  type PublicAddresses,
  type Timestamp,
} from '@tracking/contracts';
import {
  computeEventBytes,
  type EventStore,
  InvalidPositionError,
  MAX_APPEND_BYTES,
  type Position,
  type StoredEvent,
  UnavailableError,
  VersionConflictError,
} from '@tracking/ports';
import {
  type EventReference,
  isShipmentStream,
  type RecreatedEvents,
  type MakeEvents,
  parseShipmentId,
  parseShipmentIdOfPart,
  SHIPMENT_STREAM_PREFIX,
  convertStreamNameToShipmentId,
  UnknownEventTypeError,
  type UpsertShipment,
  upcastEventBody,
} from '@tracking/shipments-domain';
import { createShipmentId } from './ids.ts';
import { createPublicEventRecreator } from './publisher/event-maker.ts';
import type { ShipmentsService } from './shipments.ts';

/**
 * Operations of the shipments feature for other processes. Each operation has one request and one answer, both JSON,
 * and an rpc in shipments.proto.
 */
export interface ShipmentOperations {
  readonly shipments: ShipmentsService;
  readonly events: EventOperations;
}

/**
 * Returns the id of the shipment that a request of {@link ShipmentOperations} concerns; undefined if it concerns none or
 * several. A replica that gets all requests of a shipment has its current state in the cache. An upsert has the id of
 * the shipment that it creates or updates.
 */
export function findShipmentIdOfOperationRequest(request: object): string | undefined {
  const { shipment_id, exception_id, document_id } = request as Readonly<Record<string, unknown>>;
  if (shipment_id !== undefined) return parseShipmentId(shipment_id);
  if ('fields' in request) {
    const upsert = request as Omit<UpsertShipment, 'type' | 'shipment_id'>;
    return createShipmentId(upsert, upsert.fields.external_id, upsert.id);
  }
  return parseShipmentIdOfPart('exception', exception_id) ?? parseShipmentIdOfPart('document', document_id);
}

/** Operations on stored events for processes without an event store. All methods throw `UnavailableError`. */
export interface EventOperations extends EventTransferOperations {
  /** Returns the position of the last event; undefined while the log is empty. */
  head(): Promise<Position | undefined>;
  /** Recreates public events, as {@link MakeEvents} does. */
  makeEvents(request: {
    readonly references: readonly EventReference[];
    readonly max_bytes: number;
  }): Promise<RecreatedEvents>;
}

/** Returns a function that recreates public events in the process that has the event store. */
export function createEventMakerCallingEventStoreProcess({
  makeEvents,
}: Pick<EventOperations, 'makeEvents'>): MakeEvents {
  return (references, max_bytes) => makeEvents({ references, max_bytes });
}

/**
 * Returns a function that finds when the first event after a position was recorded. Its result is undefined if there is
 * none.
 */
export function createNextEventRecordingTimeFinder({ exportEvents }: Pick<EventOperations, 'exportEvents'>) {
  return async (after: Position | null): Promise<Timestamp | undefined> => {
    const { events } = await exportEvents({ after, limit: 1 });
    return events[0] && (events[0].metadata['recorded_at'] as Timestamp);
  };
}

/** @param addresses base addresses of links, the same as the publisher's */
export function createEventOperations(eventStore: EventStore, addresses: PublicAddresses): EventOperations {
  const makeEvents = createPublicEventRecreator({ eventStore, addresses });
  return {
    ...createEventImportAndExport(eventStore),
    head: () => eventStore.head(),
    makeEvents: ({ references, max_bytes }) => makeEvents(references, max_bytes),
  };
}

/** Maximum size of a page in bytes of JSON. A page of this size fits every channel. */
const MAX_PAGE_BYTES = 4_000_000;
const MAX_CONCURRENT_SHIPMENT_IMPORTS = 16;
/** Milliseconds without an answer of the event store after which a page is not available. */
const EXPORT_TIMEOUT_MS = 10_000;

/** Exports the events of shipments from one store, and imports them unchanged into another store. */
export interface EventTransferOperations {
  /**
   * Returns the events after the position, in the order in which they were stored. @throws DomainError
   * `validation_failed`, UnavailableError
   */
  exportEvents(request: { readonly after: string | null; readonly limit: number }): Promise<EventPage>;
  /**
   * Appends the events that are not stored yet. Events of one stream must be in order. The import can be repeated.
   * @param request with `skip_conflicts`, a shipment that the store has with other events is skipped and reported. Do
   * not send later events of that shipment, because they could be appended to its other events
   * @returns the number of given events that are stored now: all of them without `skip_conflicts`
   * @throws DomainError `validation_failed` if an event does not belong to a shipment, or without `skip_conflicts` if
   * the store has other events of the shipment; UnavailableError
   */
  importEvents(request: {
    readonly events: readonly ExportedEvent[];
    readonly skip_conflicts?: boolean;
  }): Promise<EventImportResult>;
}

export function createEventImportAndExport(
  store: EventStore,
  { timeoutMs = EXPORT_TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
): EventTransferOperations {
  return {
    async exportEvents({ after, limit }) {
      const enough = new AbortController();
      const timer = setTimeout(() => enough.abort(), timeoutMs);
      const options = {
        streamPrefixes: [SHIPMENT_STREAM_PREFIX],
        maxBatch: limit,
        signal: enough.signal,
        ...(after !== null && { after }),
      };
      try {
        for await (const { events, position, caughtUp } of store.catchUp(options)) {
          timer.refresh();
          if (events.length === 0 && !caughtUp) continue;
          if (events.length === 0) return { events: [], position: after, complete: true };
          const page = limitEventsToResponseBytes(events);
          const isWhole = page.length === events.length;
          const end = isWhole ? position : (page.at(-1)?.position ?? after);
          return { events: page.map(toExportedEvent), position: end, complete: isWhole && caughtUp };
        }
        throw new UnavailableError('event store', 'the events could not be read in time; retry later');
      } catch (error) {
        throw error instanceof InvalidPositionError ? createInvalidPositionError() : error;
      } finally {
        clearTimeout(timer);
        enough.abort();
      }
    },

    async importEvents({ events, skip_conflicts: skipConflicts = false }) {
      const streams = new Map<string, ExportedEvent[]>();
      for (const event of events) {
        validateExportedEvent(event);
        const some = streams.get(event.stream) ?? [];
        streams.set(event.stream, some);
        if (some.length > 0 && event.revision !== (some.at(-1)?.revision ?? 0) + 1) throw createRevisionGapError(event);
        some.push(markEventAsImported(event));
      }
      const waiting = streams.values();
      const conflicts: ImportConflict[] = [];
      let skipped = 0;
      const work = async () => {
        for (const some of waiting) {
          try {
            for (const piece of splitEventsIntoAppends(some)) await appendExportedEvents(store, piece);
          } catch (error) {
            if (!skipConflicts || !(error instanceof ImportedShipmentHistoryDiffersError)) throw error;
            skipped += some.filter(({ revision }) => revision >= error.revision).length;
            conflicts.push(await describeImportConflict(store, error));
          }
        }
      };
      await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_SHIPMENT_IMPORTS, streams.size) }, work));
      return { stored: events.length - skipped, ...(skipConflicts && { conflicts }) };
    },
  };
}

/** Returns as many leading events as fit into one response, at least one. */
function limitEventsToResponseBytes(events: readonly StoredEvent[]): readonly StoredEvent[] {
  let bytes = 0;
  const beyond = events.findIndex((event, index) => {
    bytes += Buffer.byteLength(JSON.stringify(toExportedEvent(event)));
    return index > 0 && bytes > MAX_PAGE_BYTES;
  });
  return beyond === -1 ? events : events.slice(0, beyond);
}

function toExportedEvent({ position: _, ...event }: StoredEvent): ExportedEvent {
  return event;
}

/** The import marker increases the size of an append, so it is set before events are split into appends. */
function markEventAsImported(event: ExportedEvent): ExportedEvent {
  return { ...event, metadata: { ...event.metadata, imported: true } };
}

/** Splits the events of one stream into as many appends as their size requires. */
function splitEventsIntoAppends(events: readonly ExportedEvent[]): readonly ExportedEvent[][] {
  const pieces: ExportedEvent[][] = [];
  let room = 0;
  for (const event of events) {
    const bytes = computeEventBytes(event);
    if (bytes > MAX_APPEND_BYTES) throw createEventTooLargeError(event);
    if (bytes > room) {
      pieces.push([]);
      room = MAX_APPEND_BYTES;
    }
    pieces.at(-1)?.push(event);
    room -= bytes;
  }
  return pieces;
}

async function appendExportedEvents(store: EventStore, events: readonly ExportedEvent[]): Promise<void> {
  const [first] = events;
  if (first === undefined) return;
  try {
    const expected = first.revision === 0 ? 'no_stream' : first.revision - 1;
    await store.append(
      first.stream,
      expected,
      events.map(({ id, type, data, metadata }) => ({ id, type, data, metadata })),
    );
  } catch (error) {
    if (!(error instanceof VersionConflictError)) throw error;
    const there = await store.read(first.stream, { from: first.revision, to: first.revision + events.length - 1 });
    const differing = there.length === 0 ? 0 : there.findIndex(({ id }, index) => id !== events[index]?.id);
    if (differing >= 0) throw new ImportedShipmentHistoryDiffersError(first.stream, first.revision + differing);
    await appendExportedEvents(store, events.slice(there.length));
  }
}

function validateExportedEvent({ stream, type, id, revision, data, metadata }: ExportedEvent): void {
  const isOurs =
    isShipmentStream(stream) &&
    /^[0-9a-f-]{36}$/.test(String(id)) &&
    Number.isSafeInteger(revision) &&
    revision >= 0 &&
    isJsonObject(data) &&
    isJsonObject(metadata);
  if (!isOurs) throw new DomainError('validation_failed', `${id} is not an event of a shipment.`);
  try {
    upcastEventBody(type, data);
  } catch (error) {
    const isUnknown = error instanceof UnknownEventTypeError;
    // An event of an earlier version may lack data that its conversion to the newest version needs.
    const reason = isUnknown
      ? `The event type ${type} is unknown.`
      : `The data of event ${id} does not match its type ${type}.`;
    throw new DomainError('validation_failed', reason);
  }
}

function isJsonObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function createInvalidPositionError(): DomainError {
  const message = 'Must be the position of a previous page.';
  return new DomainError('validation_failed', message, [{ param: 'after', code: 'invalid_value', message }]);
}

function createRevisionGapError({ stream, revision }: ExportedEvent): DomainError {
  return new DomainError(
    'validation_failed',
    `Revision ${revision} of ${stream} does not follow the previous revision.`,
  );
}

function createEventTooLargeError({ stream, revision }: ExportedEvent): DomainError {
  return new DomainError(
    'validation_failed',
    `Revision ${revision} of ${stream} is larger than ${MAX_APPEND_BYTES} bytes.`,
  );
}

/** Error for an import of a shipment that the store already has with other events. */
class ImportedShipmentHistoryDiffersError extends DomainError {
  constructor(
    readonly stream: string,
    /** Revision of the first event that differs from the stored event. */
    readonly revision: number,
  ) {
    super('validation_failed', `${stream} already exists with different events from revision ${revision} on.`);
  }
}

/** Data of the event that creates a shipment. */
interface ShipmentCreationEventData {
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly shipment: { readonly external_id: string | null };
}

/** Describes the stored shipment of a conflict, with data of its first event. */
async function describeImportConflict(
  store: EventStore,
  { stream, revision }: ImportedShipmentHistoryDiffersError,
): Promise<ImportConflict> {
  const [created] = await store.read(stream, { from: 0, to: 0 });
  const { workspace_id, environment, shipment } = (created?.data ?? {}) as Partial<ShipmentCreationEventData>;
  return {
    stream,
    shipment_id: convertStreamNameToShipmentId(stream),
    workspace_id: workspace_id ?? null,
    environment: environment ?? null,
    external_id: shipment?.external_id ?? null,
    revision,
  };
}
