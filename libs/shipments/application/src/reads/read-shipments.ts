import {
  type EtaChange,
  isResourceInScope,
  isDocumentPresent,
  type Milestone,
  type WorkspaceScope,
  type ShipmentExplanation,
  type ShipmentRecord,
  type Timestamp,
} from '@tracking/contracts';
import type { EventStore, StoredEvent } from '@tracking/ports';
import {
  compareMilestones,
  type ContainerMatchCandidate,
  type DecideContext,
  type DocumentState,
  computePendingDocumentExpiryTime,
  explainShipment,
  findMilestone,
  fold,
  collectContainerMatchFacts,
  parseShipmentId,
  parseShipmentIdOfPart,
  type ShipmentState,
  toShipmentStreamName,
  upcastStoredShipmentEvent,
} from '@tracking/shipments-domain';
import { LRUCache } from 'lru-cache';
import type { RuleSettingsReader } from '../decide-batch.ts';
import {
  countCharactersKeptByEvent,
  type LoadedShipment,
  readShipment,
  estimateShipmentHeapBytes,
  type ShipmentCache,
  readEventsInSlices,
} from '../shipment-cache.ts';
import { toEtaChangeOfEvent, toHistoryEntry, readStreamPageBackwards, type ToItem } from './history.ts';
import type {
  GetDocumentObjectsRequest,
  FoundDocument,
  ExceptionWithShipmentVersion,
  MilestoneWithShipmentVersion,
  ShipmentWithEventPosition,
  GetDocumentRequest,
  GetExceptionRequest,
  GetMilestoneRequest,
  GetShipmentRequest,
  GetShipmentAtTimeRequest,
  ListMilestonesAtTimeRequest,
  MilestoneBelongsToShipmentRequest,
  ReadShipmentHistoryRequest,
  ReadPage,
  ShipmentStreamReads,
  UnnamedHistoryEntry,
} from './shipment-reads.ts';

interface ShipmentReadsOptions {
  readonly eventStore: EventStore;
  readonly cache: ShipmentCache;
  readonly places: DecideContext['places'];
  readonly settings: RuleSettingsReader;
}

/** Reads single shipments from their streams. */
export class ShipmentStreamReader implements ShipmentStreamReads {
  private readonly past: PastShipmentStateReader;

  constructor(private readonly parts: ShipmentReadsOptions) {
    this.past = new PastShipmentStateReader(parts.eventStore);
  }

  async getShipment(request: GetShipmentRequest): Promise<ShipmentWithEventPosition | undefined> {
    const found = await this.readCurrentShipment(request);
    return found && { record: found.state.record, position: found.position };
  }

  async getShipmentAt(request: GetShipmentAtTimeRequest): Promise<ShipmentRecord | undefined> {
    return (await this.readShipmentStateAtTime(request))?.record;
  }

  async getMilestone({
    milestone_id,
    ...request
  }: GetMilestoneRequest): Promise<MilestoneWithShipmentVersion | undefined> {
    const found = await this.readCurrentShipment(request);
    const milestone = found && findMilestone(found.state, milestone_id);
    return milestone && { milestone, shipment_version: found.state.record.version };
  }

  async matchMilestone({
    milestone,
    ...request
  }: MilestoneBelongsToShipmentRequest): Promise<ContainerMatchCandidate | undefined> {
    const found = await this.readCurrentShipment(request);
    return found && collectContainerMatchFacts(found.state, milestone, this.parts.places);
  }

  async listMilestonesAt(request: ListMilestonesAtTimeRequest): Promise<ReadPage<Milestone> | undefined> {
    const state = await this.readShipmentStateAtTime(request);
    return state && createMilestonePageAtPastTime(state, request);
  }

  listHistory(request: ReadShipmentHistoryRequest): Promise<ReadPage<UnnamedHistoryEntry> | undefined> {
    let loaded: Promise<LoadedShipment | undefined> | undefined;
    const findException = async (id: string) => {
      const { state } = (await (loaded ??= this.readCurrentShipment(request))) ?? {};
      return state?.exceptions.find((exception) => exception.id === id);
    };
    return this.readHistoryPageBackwards(request, (event) => toHistoryEntry(event, findException));
  }

  listEtaHistory(request: ReadShipmentHistoryRequest): Promise<ReadPage<EtaChange> | undefined> {
    return this.readHistoryPageBackwards(request, toEtaChangeOfEvent);
  }

  async explainShipment(request: GetShipmentRequest): Promise<ShipmentExplanation | undefined> {
    const { places, settings } = this.parts;
    const found = await this.readCurrentShipment(request);
    if (found === undefined) return undefined;
    return explainShipment(found.state, {
      places,
      settings: await settings.getCachedSettings(found.state.workspace_id),
    });
  }

  async getException({
    exception_id,
    ...scope
  }: GetExceptionRequest): Promise<ExceptionWithShipmentVersion | undefined> {
    const shipment_id = parseShipmentIdOfPart('exception', exception_id);
    const found = shipment_id && (await this.readCurrentShipment({ ...scope, shipment_id }));
    if (!found) return undefined;
    const { exceptions, record } = found.state;
    const exception = exceptions.find(({ id }) => id === exception_id);
    return exception && { exception, shipment_version: record.version };
  }

  async getDocument({ document_id, ...scope }: GetDocumentRequest): Promise<FoundDocument | undefined> {
    const shipment_id = parseShipmentIdOfPart('document', document_id);
    const found = shipment_id && (await this.readCurrentShipment({ ...scope, shipment_id }));
    if (!found) return undefined;
    const { documents, record } = found.state;
    const stored = documents.find(({ document }) => document.id === document_id);
    if (stored === undefined) return undefined;
    const { document, object_id, received } = stored;
    return { document, object_id, received_object_id: received?.id ?? null, shipment_version: record.version };
  }

  async documentObjects(request: GetDocumentObjectsRequest): Promise<readonly string[]> {
    const { eventStore, cache } = this.parts;
    const shipmentId = parseShipmentId(request.shipment_id);
    const found =
      shipmentId && (await readShipment(eventStore, toShipmentStreamName(shipmentId), cache.getShipment(shipmentId)));
    return found ? found.state.documents.flatMap((each) => listObjectsNeededByDocument(each, request.now)) : [];
  }

  private async readCurrentShipment({
    shipment_id,
    ...scope
  }: GetShipmentRequest): Promise<LoadedShipment | undefined> {
    const { eventStore, cache } = this.parts;
    const shipmentId = parseShipmentId(shipment_id);
    if (shipmentId === undefined) return undefined;
    const found = await readShipment(eventStore, toShipmentStreamName(shipmentId), cache.getShipment(shipmentId));
    if (found === undefined || !isResourceInScope(found.state, scope)) return undefined;
    cache.cacheShipment(shipmentId, found);
    return found;
  }

  private async readShipmentStateAtTime({
    shipment_id,
    as_of,
    ...scope
  }: GetShipmentAtTimeRequest): Promise<ShipmentState | undefined> {
    const shipmentId = parseShipmentId(shipment_id);
    return shipmentId === undefined
      ? undefined
      : this.past.readShipmentStateAtTime(toShipmentStreamName(shipmentId), scope, as_of);
  }

  private async readHistoryPageBackwards<T>(
    request: ReadShipmentHistoryRequest,
    itemOf: ToItem<T>,
  ): Promise<ReadPage<T> | undefined> {
    const { eventStore } = this.parts;
    const shipmentId = parseShipmentId(request.shipment_id);
    if (shipmentId === undefined) return undefined;
    const stream = toShipmentStreamName(shipmentId);
    const [first] = await eventStore.read(stream, { from: 0, to: 0 });
    return isShipmentCreatedInScope(first, request)
      ? readStreamPageBackwards(eventStore, stream, request, itemOf)
      : undefined;
  }
}

/**
 * Returns the ids of the objects that a document needs: the object with its bytes if it is complete, otherwise the
 * bytes received so far.
 */
function listObjectsNeededByDocument(
  { document, object_id, received }: DocumentState,
  now: Timestamp,
): readonly string[] {
  const until = computePendingDocumentExpiryTime(document);
  if (until !== undefined) return received === null || until <= now ? [] : [received.id];
  return isDocumentPresent(document) && object_id !== null ? [object_id] : [];
}

/** Limits of the cache of past shipments. It exists because every page of a list reads the same past shipment. */
const PAST_SHIPMENT_CACHE_LIMITS = { shipments: 100, bytes: 16 * 1024 * 1024 };

/** A shipment, folded up to some past event. */
interface PastShipment {
  readonly state: ShipmentState | undefined;
  /** Number of folded events, from the first event of the stream. */
  readonly events: number;
  readonly characters: number;
  /** True if the next event was recorded after the requested time, so that all further events are ignored. */
  readonly isOver: boolean;
}
const EMPTY_PAST_SHIPMENT: PastShipment = { state: undefined, events: 0, characters: 0, isOver: false };

/** Reads shipments as they were recorded at a time. */
class PastShipmentStateReader {
  private readonly kept = new LRUCache<string, PastShipment & { readonly state: ShipmentState }>({
    max: PAST_SHIPMENT_CACHE_LIMITS.shipments,
    maxSize: PAST_SHIPMENT_CACHE_LIMITS.bytes,
    sizeCalculation: estimateShipmentHeapBytes,
  });

  constructor(private readonly store: EventStore) {}

  /**
   * Returns the state of a shipment at a time; undefined if the shipment did not exist or belongs to another scope.
   * Folds the stream up to the first event that was recorded later. Clocks of replicas differ, so recorded times can
   * decrease slightly within a stream. Events after that first event never count, so that repeated reads give the same
   * result.
   */
  async readShipmentStateAtTime(
    stream: string,
    { workspace_id, environment }: WorkspaceScope,
    at: Timestamp,
  ): Promise<ShipmentState | undefined> {
    const key = [workspace_id, environment, stream, at].join('/');
    let past: PastShipment = this.kept.get(key) ?? EMPTY_PAST_SHIPMENT;
    if (!past.isOver) {
      for await (const events of readEventsInSlices(this.store, stream, { from: past.events })) {
        if (past.events === 0 && !isShipmentCreatedInScope(events[0], { workspace_id, environment })) return undefined;
        past = foldEventsRecordedUntil(past, events, at);
        if (past.isOver) break;
      }
    }
    const { state } = past;
    if (state !== undefined) this.kept.set(key, { ...past, state });
    return state;
  }
}

function foldEventsRecordedUntil(
  { state, events: before, characters }: PastShipment,
  events: readonly StoredEvent[],
  at: Timestamp,
): PastShipment {
  const later = events.findIndex(({ metadata }) => String(metadata['recorded_at']) > at);
  const recorded = later === -1 ? events : events.slice(0, later);
  return {
    state: fold(recorded.map(upcastStoredShipmentEvent), state),
    events: before + recorded.length,
    characters: recorded.reduce((sum, event) => sum + countCharactersKeptByEvent(event), characters),
    isOver: later !== -1,
  };
}

function isShipmentCreatedInScope(first: StoredEvent | undefined, scope: WorkspaceScope): boolean {
  const event = first && upcastStoredShipmentEvent(first);
  return event?.type === 'shipment.created.v1' && isResourceInScope(event.data, scope);
}

/** Returns a page of a shipment's milestones at a past time. */
function createMilestonePageAtPastTime(
  { timeline }: ShipmentState,
  query: ListMilestonesAtTimeRequest,
): ReadPage<Milestone> {
  const { limit, after } = query;
  const listed = timeline
    .map(({ milestone }) => milestone)
    .filter((milestone) => matchesMilestoneQuery(milestone, query));
  const start =
    after === undefined
      ? 0
      : listed.findIndex((milestone) => compareMilestones(milestone, parseMilestoneSortKey(after)) > 0);
  const items = start === -1 ? [] : listed.slice(start, start + limit);
  const last = items.at(-1);
  const hasMore = last !== undefined && start + limit < listed.length;
  return { items, next: hasMore ? [last.occurred_at, last.sequence, last.recorded_at, last.id] : null };
}

type SortKey = Pick<Milestone, 'occurred_at' | 'sequence' | 'recorded_at' | 'id'>;
function parseMilestoneSortKey([occurred_at, sequence, recorded_at, id]: readonly (string | number)[]): SortKey {
  return {
    occurred_at: String(occurred_at),
    sequence: Number(sequence),
    recorded_at: String(recorded_at),
    id: String(id),
  };
}

function matchesMilestoneQuery(milestone: Milestone, query: ListMilestonesAtTimeRequest): boolean {
  const { classifiers, container_number, include_superseded, include_retracted } = query;
  return (
    classifiers.includes(milestone.classifier) &&
    (container_number === undefined || milestone.container_number === container_number) &&
    (include_superseded || milestone.superseded_at === null) &&
    (include_retracted || milestone.retracted_at === null)
  );
}
