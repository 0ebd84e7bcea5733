import type {
  Actor,
  Container,
  DocumentContentType,
  DocumentRecord,
  LastMilestoneSummary,
  LegFields,
  Milestone,
  ShipmentException,
  ClientShipmentFields,
  ShipmentRecord,
  TimeOrDay,
  Timestamp,
} from '@tracking/contracts';
import type { MilestoneInput } from '../check-milestone.ts';

/** The metadata of every event. */
export interface EventMetadata {
  readonly command_id: string;
  /** Index of the event among the events of its command, from 0. */
  readonly command_index: number;
  /** Time of the command, which is the time of the event. Timestamps of stores are not used. */
  readonly recorded_at: Timestamp;
  readonly actor: Actor;
  readonly request_id: string;
  /** W3C trace context of the request; null if it had none. */
  readonly traceparent: string | null;
  /** Next time at which the shipment changes without a command, after this append; null if there is none. */
  readonly next_check_at: Timestamp | null;
  /** True if the event was imported from another store. An imported event may be stored long after `recorded_at`. */
  readonly imported?: true;
}

/**
 * Returns the next time at which the shipment changes without a command; null if there is none. Ignores the time in an
 * imported event: the exporting system has other rules and settings, and more events of the shipment may follow.
 */
export function readNextCheckTime({ next_check_at, imported }: EventMetadata): Timestamp | null {
  return imported === true ? null : next_check_at;
}

/** Values that a client set for fields that estimates also set. */
export type ScheduleFields = Partial<Pick<ClientShipmentFields, 'etd' | 'eta' | 'legs'>>;

/** Revisions of the events with which a client set the times of a leg. */
export interface EventRevisionsOfLegTimes {
  readonly etd: number;
  readonly eta: number;
}

/** Ports that the client set for the shipment. If the client omits a port, it is taken from the legs. */
export type GivenPorts = Pick<ClientShipmentFields, 'origin_port' | 'destination_port'>;

/**
 * Values of the last upsert for fields that estimates also set. A repeated upsert with these values changes nothing.
 */
export interface LastUpsertValues {
  readonly etd: TimeOrDay | null;
  readonly eta: TimeOrDay | null;
  readonly legs: readonly LegFields[];
}

/**
 * Values that a feed last sent for fields that a person has corrected, and the time of that report. Empty if no field was
 * corrected.
 */
export type Overridden = Partial<Omit<MilestoneInput, 'reported_at'> & Pick<Milestone, 'reported_at'>>;

/**
 * A report of an estimate that another report has changed since. The precision and the time zone are present only if the
 * report stated a day.
 */
export type EstimateReport = Pick<Milestone, 'code' | 'occurred_at' | 'reported_at' | 'location'> &
  Partial<Pick<Milestone, 'occurred_at_precision' | 'timezone'>>;

export type Change<T> = { readonly from: T; readonly to: T };

/** A changed container: its number and the changed fields. An added or removed container has all fields. */
export type ContainerChange = Pick<Container, 'number'> & Partial<Container>;

/** Fields of a shipment that events announce. They exclude counts and fields that change with every event. */
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
 * Client-visible fields that an event changed. `containers` lists only changed containers, matched by number, in the
 * order of `container_numbers`. An added container is only in `to` and a removed container only in `from`, both with
 * all fields; other containers have only their changed fields. `milestone` is not a field of the shipment: it is set if
 * an actual milestone was corrected or, with `to` null, retracted.
 */
export type Changes = { readonly [Field in keyof AnnouncedFields]?: Change<AnnouncedFields[Field]> } & {
  readonly containers?: Change<readonly ContainerChange[]>;
  readonly milestone?: { readonly from: Milestone; readonly to: Milestone | null };
};

/** Changed `last_milestone` values. Responses contain them, but events do not announce them. */
export interface ChangedLastMilestoneSummaries {
  /** The new `last_milestone` of the shipment; absent if it does not change. */
  readonly shipment?: LastMilestoneSummary | null;
  /** The new `last_milestone` of each container in which it changed. */
  readonly containers: readonly { readonly last: LastMilestoneSummary | null; readonly numbers: readonly string[] }[];
}

/** A document, with the object that contains its bytes. */
export interface DocumentWithFileId {
  readonly document: DocumentRecord;
  /**
   * Id of the object in the object store; null until the bytes are complete. The object of a deleted or expired
   * document must be destroyed.
   */
  readonly object_id: string | null;
}

/** Bytes in the object store, with the results of the content check. */
export interface ReceivedDocumentFile {
  readonly id: string;
  readonly size_bytes: number;
  /** SHA-256 of the bytes, in lower-case hex. */
  readonly sha256: string;
  readonly content_type: DocumentContentType;
}

/** A document before and after a review, an expiry or a deletion. */
export interface DocumentChangeData {
  readonly stored: DocumentWithFileId;
  readonly previous: DocumentRecord;
}

/** Fields that an event sets on an exception: all fields, or only the changed ones. */
export type ExceptionChange = Pick<ShipmentException, 'id'> & Partial<ShipmentException>;
