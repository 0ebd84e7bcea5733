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

/** A version that is no longer written. Every version that was ever stored stays readable. */
export interface FormerVersion {
  /** Its wire name. */
  readonly type: string;
  /** Brings its data to the form of the version after it. */
  readonly upcast: (data: JsonObject) => JsonObject;
}

/** The public event that a stored event becomes. */
export interface Announcement {
  readonly type: EventType;
  /**
   * @param exception right after the event, where the event opens or changes one
   * @returns the fields of the public event that are not common to all. Equal arguments give equal JSON text.
   */
  readonly data: (after: Shipment, addresses: PublicAddresses, exception?: ShipmentException) => object;
}

/** The entry of a stored event in its shipment's history. */
export interface HistoryNote {
  readonly type: HistoryType;
  readonly changes: HistoryChanges;
}

/**
 * All there is to know of one kind of stored event. What needs to know it (folding, upcasting, publishing, the timeline,
 * the golden files) derives from these; a golden file is named after its type. Folding only copies and derives nothing, so
 * that later code never changes what was announced.
 */
export interface StoredEventDescriptor<Event extends EventBody> {
  /** Wire name, with the version that is written now. */
  readonly type: Event['type'];
  /** Oldest first. */
  readonly formerVersions?: readonly FormerVersion[];
  /** The state that a stream begins with; only of an event that may be the first. */
  begin?(data: Event['data'], revision: number): ShipmentDraft;
  /** The shipment as answered after it, but for `updated_at` and `version`; it stays where there is none. */
  applyToRecord?(record: ShipmentRecord, data: Event['data']): ShipmentRecord;
  /** What else of the state it moves; changes the draft. */
  applyToState?(draft: ShipmentDraft, data: Event['data'], revision: number): void;
  /** What it changes on the timeline. */
  milestoneChanges?(data: Event['data']): Omit<MilestoneChanges, 'at'>;
  /** The exception that it opens or changes: the whole exception, or the fields that it sets. */
  exception?(data: Event['data']): ExceptionChange;
  /** The documents that it adds or changes, as they are then. */
  documents?(data: Event['data']): readonly StoredDocument[];
  /** Whether something was heard of the shipment: a milestone, or an estimated arrival. */
  isNews?(data: Event['data']): boolean;
  /** The one public event that it becomes; undefined for one that announces nothing: docs/reference/events.md#types. */
  announce?(data: Event['data']): Announcement | undefined;
  /**
   * Its entry in the history; undefined for an event that clients do not see.
   * @param exception right after the event, needed for an event that sets some fields of one
   */
  historyNote?(data: Event['data'], exception: ShipmentException | undefined): HistoryNote | undefined;
}
