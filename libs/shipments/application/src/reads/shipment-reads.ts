import type {
  Classifier,
  EtaChange,
  HistoryEntry,
  Milestone,
  WorkspaceScope,
  ShipmentException,
  ShipmentExplanation,
  Timestamp,
} from '@tracking/contracts';
import type { ShipmentRecord } from '@tracking/contracts';
import type { Position } from '@tracking/ports';
import type { ContainerMatchCandidate, MilestoneInput, DocumentWithFileId } from '@tracking/shipments-domain';

/** A shipment, and the position of its last event. */
export interface ShipmentWithEventPosition {
  readonly record: ShipmentRecord;
  readonly position: Position;
}

export interface GetShipmentRequest extends WorkspaceScope {
  readonly shipment_id: string;
}

export interface GetMilestoneRequest extends GetShipmentRequest {
  readonly milestone_id: string;
}

/** Request whether a milestone of a container belongs to one of the shipments with the container. */
export interface MilestoneBelongsToShipmentRequest extends GetShipmentRequest {
  readonly milestone: MilestoneInput;
}

/** A milestone, with the version of its shipment. */
export interface MilestoneWithShipmentVersion {
  readonly milestone: Milestone;
  readonly shipment_version: number;
}

export interface GetExceptionRequest extends WorkspaceScope {
  readonly exception_id: string;
}

/** An exception, with the version of its shipment. */
export interface ExceptionWithShipmentVersion {
  readonly exception: ShipmentException;
  readonly shipment_version: number;
}

export interface GetDocumentRequest extends WorkspaceScope {
  readonly document_id: string;
}

/** A document, with the object that contains its bytes and the version of its shipment. */
export interface FoundDocument extends DocumentWithFileId {
  /** Id of the last received object while the document is pending. */
  readonly received_object_id: string | null;
  readonly shipment_version: number;
}

/** Request for the objects of a shipment in any scope. A job sends it to find objects that no document needs. */
export interface GetDocumentObjectsRequest {
  readonly shipment_id: string;
  /** Current time. An upload that has expired by this time needs no object, even if its expiry is not stored yet. */
  readonly now: Timestamp;
}

/** Request for the state of a shipment at a past time. */
export interface GetShipmentAtTimeRequest extends GetShipmentRequest {
  /** The requested time, in UTC with milliseconds. */
  readonly as_of: Timestamp;
}

export interface ListMilestonesAtTimeRequest extends GetShipmentAtTimeRequest {
  /** Classifiers to list, at least one. */
  readonly classifiers: readonly Classifier[];
  readonly container_number?: string | undefined;
  readonly include_superseded: boolean;
  readonly include_retracted: boolean;
  /** Maximum number of items, at least 1. */
  readonly limit: number;
  /** Value of `next` from the previous page. */
  readonly after?: PageEnd | undefined;
}

export interface ReadShipmentHistoryRequest extends GetShipmentRequest {
  /** Maximum number of items, at least 1. */
  readonly limit: number;
  /** `next` of the previous page. */
  readonly after?: PageEnd | undefined;
}

/** Position of the last item of a page. */
export type PageEnd = readonly (string | number)[];

export interface ReadPage<T> {
  readonly items: readonly T[];
  /**
   * Start of the next page; null after the last page. A page may have fewer items than requested, or none, although
   * more pages follow.
   */
  readonly next: PageEnd | null;
}

/** A history entry without its actor's name, because the domain does not know names. */
export type UnnamedHistoryEntry = Omit<HistoryEntry, 'actor'> & { readonly actor: Omit<HistoryEntry['actor'], 'name'> };

/**
 * Reads of a shipment's stream. Methods return undefined if the shipment does not exist or belongs to another scope.
 * Results include every command that was answered before the call. All methods throw `UnavailableError`.
 */
export interface ShipmentStreamReads {
  getShipment(request: GetShipmentRequest): Promise<ShipmentWithEventPosition | undefined>;
  /** Returns the shipment at a time; undefined before its creation. */
  getShipmentAt(request: GetShipmentAtTimeRequest): Promise<ShipmentRecord | undefined>;
  /** Returns a milestone, even if superseded or retracted; undefined if the shipment has none with this id. */
  getMilestone(request: GetMilestoneRequest): Promise<MilestoneWithShipmentVersion | undefined>;
  /** Returns the facts that decide whether a milestone of a container of the shipment belongs to the shipment. */
  matchMilestone(request: MilestoneBelongsToShipmentRequest): Promise<ContainerMatchCandidate | undefined>;
  /** Returns the milestones at a time, in the order of the timeline. */
  listMilestonesAt(request: ListMilestonesAtTimeRequest): Promise<ReadPage<Milestone> | undefined>;
  /** Returns the history of the shipment, newest first. */
  listHistory(request: ReadShipmentHistoryRequest): Promise<ReadPage<UnnamedHistoryEntry> | undefined>;
  /** Returns every change of the shipment's `eta`, newest first. */
  listEtaHistory(request: ReadShipmentHistoryRequest): Promise<ReadPage<EtaChange> | undefined>;
  /** Explains the shipment's status, times and exceptions. */
  explainShipment(request: GetShipmentRequest): Promise<ShipmentExplanation | undefined>;
  /** Returns an exception of a shipment; undefined if no shipment of the scope has it. */
  getException(request: GetExceptionRequest): Promise<ExceptionWithShipmentVersion | undefined>;
  /** Returns undefined if no shipment of the scope has it. */
  getDocument(request: GetDocumentRequest): Promise<FoundDocument | undefined>;
  /**
   * Returns ids of the objects that a shipment's documents need, or may need once uploads complete. Empty if the
   * shipment does not exist.
   */
  documentObjects(request: GetDocumentObjectsRequest): Promise<readonly string[]>;
}
