import type {
  Classifier,
  EtaChange,
  HistoryEntry,
  Milestone,
  Scope,
  ShipmentException,
  ShipmentExplanation,
  Timestamp,
} from '@tracking/contracts';
import type { ShipmentRecord } from '@tracking/contracts';
import type { Position } from '@tracking/ports';
import type { StoredDocument } from '@tracking/shipments-domain';

/** A shipment as its stream has it, and the position of its last event. */
export interface FoundShipment {
  readonly record: ShipmentRecord;
  readonly position: Position;
}

export interface GetShipment extends Scope {
  readonly shipment_id: string;
}

export interface GetMilestone extends GetShipment {
  readonly milestone_id: string;
}

/** A milestone, and the version of its shipment. */
export interface FoundMilestone {
  readonly milestone: Milestone;
  readonly shipment_version: number;
}

export interface GetException extends Scope {
  readonly exception_id: string;
}

/** An exception, and the version of its shipment. */
export interface FoundException {
  readonly exception: ShipmentException;
  readonly shipment_version: number;
}

export interface GetDocument extends Scope {
  readonly document_id: string;
}

/** A document, where its bytes are, and the version of its shipment. */
export interface FoundDocument extends StoredDocument {
  /** What came for it while it is pending: the last bytes. */
  readonly received_object_id: string | null;
  readonly shipment_version: number;
}

/** Objects of a shipment in any scope, for a job that looks for objects that no document names. */
export interface DocumentObjects {
  readonly shipment_id: string;
  /** An upload that has expired by then needs no object, even if its expiry is not stored yet. */
  readonly now: Timestamp;
}

/** The past of a shipment up to a time: what was recorded then, to the millisecond. */
export interface GetShipmentAt extends GetShipment {
  /** In UTC with milliseconds. */
  readonly as_of: Timestamp;
}

export interface ListMilestonesAt extends GetShipmentAt {
  /** At least one. */
  readonly classifiers: readonly Classifier[];
  readonly container_number?: string | undefined;
  readonly include_superseded: boolean;
  readonly include_retracted: boolean;
  /** At least 1. */
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: PageEnd | undefined;
}

export interface ReadHistory extends GetShipment {
  /** At least 1. */
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: PageEnd | undefined;
}

/** Where a page ended. */
export type PageEnd = readonly (string | number)[];

export interface ReadPage<T> {
  readonly items: readonly T[];
  /** Null after the last page. A page may hold fewer items than asked for, even none, and not be the last. */
  readonly next: PageEnd | null;
}

/** An entry without its actor's name, which is known elsewhere. */
export type UnnamedHistoryEntry = Omit<HistoryEntry, 'actor'> & { readonly actor: Omit<HistoryEntry['actor'], 'name'> };

/**
 * What a shipment's stream tells of it. Undefined for a shipment that does not exist, or is of another scope. At least as
 * new as every command answered before the call.
 * All throw `Unavailable`.
 */
export interface ShipmentReads {
  getShipment(request: GetShipment): Promise<FoundShipment | undefined>;
  /** The shipment as it was; undefined also before it was created. */
  getShipmentAt(request: GetShipmentAt): Promise<ShipmentRecord | undefined>;
  /** Superseded or retracted too. Undefined also where that shipment has none of this id. */
  getMilestone(request: GetMilestone): Promise<FoundMilestone | undefined>;
  /** In the order of the timeline. */
  listMilestonesAt(request: ListMilestonesAt): Promise<ReadPage<Milestone> | undefined>;
  /** What happened to it, the newest first. */
  listHistory(request: ReadHistory): Promise<ReadPage<UnnamedHistoryEntry> | undefined>;
  /** Every change of its `eta`, the newest first. */
  listEtaHistory(request: ReadHistory): Promise<ReadPage<EtaChange> | undefined>;
  /** Why it is what it is. */
  explainShipment(request: GetShipment): Promise<ShipmentExplanation | undefined>;
  /** Undefined also where no shipment of the scope has it. */
  getException(request: GetException): Promise<FoundException | undefined>;
  /** Undefined also where no shipment of the scope has it. */
  getDocument(request: GetDocument): Promise<FoundDocument | undefined>;
  /** Ids of the objects that a shipment's documents consist of, or may yet consist of; empty if there is no such shipment. */
  documentObjects(request: DocumentObjects): Promise<readonly string[]>;
}
