import type {
  Actor,
  Container,
  DocumentContentType,
  DocumentRecord,
  LastMilestone,
  LegFields,
  Milestone,
  ShipmentException,
  ShipmentFields,
  ShipmentRecord,
  Timestamp,
} from '@tracking/contracts';
import type { MilestoneInput } from '../check-milestone.ts';

/** What every event carries beside its data, from the first day. */
export interface EventMetadata {
  readonly command_id: string;
  /** Place among the events of its command, from 0. The event's id is uuidv5(command_id, command_index). */
  readonly command_index: number;
  /** The command's time; the event's time everywhere. A store's own timestamp is never used. */
  readonly recorded_at: Timestamp;
  readonly actor: Actor;
  readonly request_id: string;
  /** W3C trace context of the request, when it had one. */
  readonly traceparent: string | null;
  /** When time alone next changes something about the shipment as it is after this append. */
  readonly next_check_at: Timestamp | null;
  /** Whether it came from another store: it may be stored here long after its time. */
  readonly imported?: true;
}

/**
 * When time alone next changes something about the shipment; null if never. What the system that an event was imported
 * from had found says nothing here: rules and settings are others, and more events of the shipment may be to come.
 */
export function nextCheckOf({ next_check_at, imported }: EventMetadata): Timestamp | null {
  return imported === true ? null : next_check_at;
}

/** Fields that both clients and estimates move; those that were set. */
export type ScheduleFields = Partial<Pick<ShipmentFields, 'etd' | 'eta' | 'legs'>>;

/** The revisions of the events by which the client set the times of a leg. */
export interface LegTimesWritten {
  readonly etd: number;
  readonly eta: number;
}

/** Ports as the client gave them itself. One that it left out is that of its legs, where it has any. */
export type GivenPorts = Pick<ShipmentFields, 'origin_port' | 'destination_port'>;

/** What the last upsert that named them sent for the fields that estimates move, so that a nightly resend is no change. */
export interface LastSent {
  readonly etd: Timestamp | null;
  readonly eta: Timestamp | null;
  readonly legs: readonly LegFields[];
}

/** Fields of a milestone as a feed last sent them, where a person's word stands instead. Empty where nothing was corrected. */
export type Overridden = Partial<MilestoneInput>;

export type Change<T> = { readonly from: T; readonly to: T };

/** A container that differs: its number and the fields that moved; whole in the list where the other one lacks it. */
export type ContainerChange = Pick<Container, 'number'> & Partial<Container>;

/** What clients see of a shipment and events announce: not the counts and what moves with every event. */
export type AnnouncedFields = Omit<
  ShipmentRecord,
  | 'id'
  | 'containers'
  | 'last_milestone'
  | 'open_exceptions_count'
  | 'documents_count'
  | 'created_at'
  | 'updated_at'
  | 'version'
>;

/**
 * Client-visible fields that an event moved. `containers` holds only those that differ, matched by number: new ones stand
 * in `to` alone, removed ones in `from` alone, both whole; the others with the fields that moved. Their order is that of
 * `container_numbers`. `milestone` is there when an actual milestone was corrected or, with `to` null, retracted; it is no field of the
 * shipment.
 */
export type Changes = { readonly [Field in keyof AnnouncedFields]?: Change<AnnouncedFields[Field]> } & {
  readonly containers?: Change<readonly ContainerChange[]>;
  readonly milestone?: { readonly from: Milestone; readonly to: Milestone | null };
};

/** The `last_milestone`s that an event moves; they are answered, but never announced. */
export interface LastMilestones {
  /** The shipment's; absent when it stays. */
  readonly shipment?: LastMilestone | null;
  /** Those of containers, by number; only the ones that move. */
  readonly containers: readonly { readonly last: LastMilestone | null; readonly numbers: readonly string[] }[];
}

/** A document, and where its bytes are. */
export interface StoredDocument {
  readonly document: DocumentRecord;
  /** In the object store; null before they are complete. Those of a deleted or expired document are to be destroyed. */
  readonly object_id: string | null;
}

/** Bytes in the object store, and what was found of them. */
export interface ReceivedObject {
  readonly id: string;
  readonly size_bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly content_type: DocumentContentType;
}

/** What a review or time makes of a document. */
export interface DocumentChanged {
  readonly stored: StoredDocument;
  readonly previous: DocumentRecord;
}

/** What an event sets of an exception: all fields, or those that it changes. */
export type ExceptionChange = Pick<ShipmentException, 'id'> & Partial<ShipmentException>;
