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

/** A version that is no longer written. Every stored version stays readable. */
export interface FormerVersion {
  /** Its wire name. */
  readonly type: string;
  /** Converts its data to the next version. */
  readonly upcast: (data: JsonObject) => JsonObject;
}

/** The public event that a stored event becomes. */
export interface Announcement {
  readonly type: EventType;
  /**
   * @param exception the exception right after the event, if the event opens or changes one
   * @returns the fields that not all public events have. Equal arguments give equal JSON text.
   */
  readonly data: (after: Shipment, addresses: PublicAddresses, exception?: ShipmentException) => object;
}

/** The entry of a stored event in its shipment's history. */
export interface HistoryNote {
  readonly type: HistoryType;
  readonly changes: HistoryChanges;
}

/**
 * Describes one type of stored events. Folding, upcasting, publishing, the timeline and the golden files, which are named
 * after the type, use it. Folding only copies data and derives nothing, so that later code never changes announced data.
 */
export interface StoredEventDescriptor<Event extends EventBody> {
  /** Wire name, with the current version. */
  readonly type: Event['type'];
  /** Oldest first. */
  readonly formerVersions?: readonly FormerVersion[];
  /** The state after the event as the first of a stream. Absent if it cannot be the first. */
  begin?(data: Event['data'], revision: number): ShipmentDraft;
  /** The record after it, except `updated_at` and `version`. Absent if the record stays. */
  applyToRecord?(record: ShipmentRecord, data: Event['data']): ShipmentRecord;
  /** Applies all other changes of the state to the draft. */
  applyToState?(draft: ShipmentDraft, data: Event['data'], revision: number): void;
  /** Its changes to the timeline. */
  milestoneChanges?(data: Event['data']): Omit<MilestoneChanges, 'at'>;
  /** The exception that it opens or changes: the whole exception, or the fields that it sets. */
  exception?(data: Event['data']): ExceptionChange;
  /** The documents that it adds or changes, in their new state. */
  documents?(data: Event['data']): readonly StoredDocument[];
  /** Whether it is news of the shipment for the rule `no_update`: a milestone, or an estimated arrival. */
  isNews?(data: Event['data']): boolean;
  /** Its public event; undefined if there is none: docs/reference/events.md#types. */
  announce?(data: Event['data']): Announcement | undefined;
  /**
   * Its entry in the history; undefined for an event that clients do not see.
   * @param exception the exception right after the event; needed for an event that sets only some of its fields
   */
  historyNote?(data: Event['data'], exception: ShipmentException | undefined): HistoryNote | undefined;
}
