import type {
  EventType,
  HistoryChanges,
  HistoryType,
  JsonObject,
  PublicAddresses,
  Shipment,
  ShipmentException,
  ShipmentRecord,
} from '@tracking/contracts';
import type { ShipmentDraft } from '../state.ts';
import type { MilestoneChanges } from '../timeline.ts';
import type { ExceptionChange, StoredDocument } from './event-data.ts';

interface EventBody {
  readonly type: string;
  readonly data: object;
}

/** A former version of an event type. New events no longer use it, but stored events of every version stay readable. */
export interface FormerVersion {
  /** Type as stored. */
  readonly type: string;
  /** Converts data of this version to the next one. */
  readonly upcast: (data: JsonObject) => JsonObject;
}

/** The public event of a stored event. */
export interface Announcement {
  readonly type: EventType;
  /**
   * Returns the fields that only some public events have. Equal arguments give equal JSON text.
   * @param exception the exception right after the event, if the event opens or changes one
   */
  readonly data: (after: Shipment, addresses: PublicAddresses, exception?: ShipmentException) => object;
}

/** The entry of a stored event in its shipment's history. */
export interface HistoryNote {
  readonly type: HistoryType;
  readonly changes: HistoryChanges;
}

/**
 * Describes one type of stored events. Folding, upcasting, publishing, the timeline and the golden files, which are
 * named after the type, use the descriptor. Folding only copies data and derives nothing, so that later code never
 * changes announced data.
 */
export interface StoredEventDescriptor<Event extends EventBody> {
  /** Type as stored, in its current version. */
  readonly type: Event['type'];
  /** Former versions, oldest first. */
  readonly formerVersions?: readonly FormerVersion[];
  /** Returns the state after the event as the first of a stream. Absent if the event cannot be the first. */
  begin?(data: Event['data'], revision: number): ShipmentDraft;
  /**
   * Returns the record after the event, except `updated_at` and `version`. Absent if the event does not change the
   * record.
   */
  applyToRecord?(record: ShipmentRecord, data: Event['data']): ShipmentRecord;
  /** Applies all other changes of the state to the draft. */
  applyToState?(draft: ShipmentDraft, data: Event['data'], revision: number): void;
  /** Returns the changes to the timeline. */
  milestoneChanges?(data: Event['data']): Omit<MilestoneChanges, 'at'>;
  /** Returns the exception that the event opens or changes: the whole exception, or the fields that the event sets. */
  exception?(data: Event['data']): ExceptionChange;
  /** Returns the documents that the event adds or changes, in their new state. */
  documents?(data: Event['data']): readonly StoredDocument[];
  /**
   * Reports whether the event is news of the shipment for the rule `no_update`: a milestone, or an estimated arrival.
   */
  isNews?(data: Event['data']): boolean;
  /** Returns the public event; undefined if there is none: docs/reference/events.md#types. */
  announce?(data: Event['data']): Announcement | undefined;
  /**
   * Returns the entry in the history; undefined for an event that clients do not see.
   * @param exception the exception right after the event; needed for an event that sets only some of its fields
   */
  historyNote?(data: Event['data'], exception: ShipmentException | undefined): HistoryNote | undefined;
}
