import type {
  EventType,
  HistoryChanges,
  HistoryType,
  JsonObject,
  PublicAddresses,
  Shipment,
  ShipmentException,
  ShipmentRecord,
  Timestamp,
} from '@tracking/contracts';
import type { ShipmentDraft } from '../state.ts';
import type { TimelineChangesOfEvent } from '../timeline.ts';
import type { ExceptionChange, DocumentWithFileId } from './event-data.ts';

interface EventTypeAndData {
  readonly type: string;
  readonly data: object;
}

/** A former version of an event type. It is no longer written, but stored events of every version stay readable. */
export interface FormerEventVersion {
  /** Type as stored. */
  readonly type: string;
  /** Converts data of this version to the next version. */
  readonly upcast: (data: JsonObject) => JsonObject;
}

/** The public event that announces a stored event. */
export interface PublicEventMapping {
  readonly type: EventType;
  /**
   * Returns fields that only some public events have. Equal arguments give equal JSON text.
   * @param exception the exception directly after the event, if the event opens or changes an exception
   */
  readonly data: (after: Shipment, addresses: PublicAddresses, exception?: ShipmentException) => object;
}

/** Entry of a stored event in the history of its shipment. */
export interface EventHistoryEntry {
  readonly type: HistoryType;
  readonly changes: HistoryChanges;
}

/**
 * Describes one type of stored event. The descriptor is used to fold, convert and publish the events, to build
 * timelines, and for the golden files, which are named after the type. Folding only copies data and derives nothing, so
 * that later code cannot change announced data.
 */
export interface StoredEventDescriptor<Event extends EventTypeAndData> {
  /** Type of the stored event in its current version. */
  readonly type: Event['type'];
  /** Former versions, oldest first. */
  readonly formerVersions?: readonly FormerEventVersion[];
  /** Returns the state after the event if it is the first event of a stream. Absent if it cannot be the first. */
  begin?(data: Event['data'], revision: number): ShipmentDraft;
  /**
   * Returns the record after the event. The caller sets `updated_at` and `version`. Absent if the event does not change
   * the record.
   */
  applyToRecord?(record: ShipmentRecord, data: Event['data']): ShipmentRecord;
  /** Applies changes that are not covered by the other functions to the draft of the state. */
  applyToState?(
    draft: ShipmentDraft,
    data: Event['data'],
    event: { readonly revision: number; readonly at: Timestamp },
  ): void;
  /** Returns the changes that the event makes to the timeline. */
  milestoneChanges?(data: Event['data']): Omit<TimelineChangesOfEvent, 'at'>;
  /**
   * Returns the exception that the event opens or changes: the whole exception, or only the fields that the event sets.
   */
  exception?(data: Event['data']): ExceptionChange;
  /** Returns the documents that the event adds or changes, in their new state. */
  documents?(data: Event['data']): readonly DocumentWithFileId[];
  /**
   * Returns true if the event is news about the shipment for the rule `no_update`: a milestone, or an estimated
   * arrival.
   */
  isNews?(data: Event['data']): boolean;
  /**
   * Returns the public event of the stored event; undefined if the event is not announced:
   * docs/reference/events.md#types.
   */
  announce?(data: Event['data']): PublicEventMapping | undefined;
  /**
   * Returns the history entry; undefined for an event that clients do not see.
   * @param exception the exception directly after the event; needed for an event that sets only some of its fields
   */
  createHistoryNote?(data: Event['data'], exception: ShipmentException | undefined): EventHistoryEntry | undefined;
}
