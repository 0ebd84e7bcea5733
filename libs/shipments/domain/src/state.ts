import {
  DomainError,
  type Environment,
  type LegFields,
  type Milestone,
  type ShipmentException,
  type ShipmentRecord,
  type Timestamp,
} from '@tracking/contracts';
import type {
  GivenPorts,
  LastSentValues,
  LegTimesWritten,
  Overridden,
  ScheduleFields,
  ReceivedObject,
  StoredDocument,
} from './events/event-data.ts';
import type { RemovedContainers } from './changes.ts';

/** A milestone on the timeline. Its event revisions, not `occurred_at`, decide which milestone is newest. */
export interface TimelineEntry {
  readonly milestone: Milestone;
  /**
   * Revision of the event that recorded the milestone. If the milestone was an estimate before, the revision of the
   * event that made it actual.
   */
  readonly recorded: number;
  /** Revision of the event that made the present statement. Correcting only the note does not change this revision. */
  readonly written: number;
  /**
   * Values of a feed that a person overrode. They are kept, even after a retraction, so that repetitions of the feed
   * are recognized.
   */
  readonly overridden: Overridden;
}

/** The client's last value, with the revision of its event. Only later estimates override the value. */
export interface ClientValue<T> {
  readonly value: T;
  readonly written: number;
}

/** The client's last legs, with the revisions of the events that set their times. */
interface ClientLegs {
  readonly value: readonly LegFields[];
  readonly written: readonly LegTimesWritten[];
}

/** The client's values for fields that estimates also set. */
export interface Schedule {
  readonly etd: ClientValue<Timestamp | null>;
  readonly eta: ClientValue<Timestamp | null>;
  readonly legs: ClientLegs;
}

/** Creates the schedule from the first upsert. */
export function createSchedule({ etd, eta, legs }: LastSentValues, written: number): Schedule {
  return { etd: { value: etd, written }, eta: { value: eta, written }, legs: setLegs(legs, written) };
}

/**
 * Returns the schedule after the client set some fields.
 * @param legsWritten revisions by leg; if absent, this event sets all times of the legs
 */
export function setSchedule(
  schedule: Schedule,
  fields: ScheduleFields,
  written: number,
  legsWritten?: readonly LegTimesWritten[],
): Schedule {
  const { etd, eta, legs } = fields;
  return {
    etd: etd === undefined ? schedule.etd : { value: etd, written },
    eta: eta === undefined ? schedule.eta : { value: eta, written },
    legs: legs === undefined ? schedule.legs : setLegs(legs, written, legsWritten),
  };
}

function setLegs(
  value: readonly LegFields[],
  written: number,
  legsWritten: readonly LegTimesWritten[] = value.map(() => ({ etd: written, eta: written })),
): ClientLegs {
  return { value, written: legsWritten };
}

export interface AppendedCommand {
  readonly id: string;
  /** Revision of the first event that the command appended. */
  readonly revision: number;
}

/** A document with internal data of its shipment. */
export interface DocumentState extends StoredDocument {
  /** Last bytes received, while the document is pending. */
  readonly received: ReceivedObject | null;
  /**
   * Sequence number of the document's review within the shipment, from 1; 0 before a review. Clocks differ, so times of
   * reviews cannot be compared.
   */
  readonly verdict: number;
}

/** A shipment, folded from its stream. Immutable. */
export interface ShipmentState {
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly record: ShipmentRecord;
  readonly schedule: Schedule;
  readonly sent: LastSentValues;
  /** Ports that the client set for the shipment; null if they equal the ports of the record. */
  readonly ports: GivenPorts | null;
  /** Revision of the event with which the client cancelled it; null if it is not cancelled by the client. */
  readonly cancelled: number | null;
  readonly removedContainers: RemovedContainers;
  /**
   * Milestones sorted by occurred_at, catalog sequence, recorded_at and id, including retracted and superseded ones.
   */
  readonly timeline: readonly TimelineEntry[];
  /** All exceptions, including resolved ones, in the order in which they opened. */
  readonly exceptions: readonly ShipmentException[];
  /** All documents, including deleted ones, in the order in which they were added. */
  readonly documents: readonly DocumentState[];
  /**
   * Ids of exceptions that a person resolved and whose condition has ended since then. A new exception may open for
   * these.
   */
  readonly endedConditions: ReadonlySet<string>;
  /** Last note with which a person acknowledged an exception, by exception id. */
  readonly acknowledgementNotes: ReadonlyMap<string, string>;
  /** Time when a milestone or an estimated arrival was last received; null if never. */
  readonly lastNewsAt: Timestamp | null;
  /** Next time at which the shipment changes without a command, from the last append; null if there is none. */
  readonly nextCheckAt: Timestamp | null;
  /** Commands that appended events, in the order in which they were appended. */
  readonly commands: readonly AppendedCommand[];
}

/** Draft of a state. It has its own copies of the lists, which folding modifies. */
export type ShipmentDraft = { -readonly [Key in keyof ShipmentState]: ShipmentState[Key] } & {
  timeline: TimelineEntry[];
  exceptions: ShipmentException[];
  documents: DocumentState[];
  commands: AppendedCommand[];
};

/** Returns the revision of the first event that a command appended; undefined if it appended nothing. */
export function findCommandRevision(state: ShipmentState, commandId: string): number | undefined {
  return state.commands.findLast((command) => command.id === commandId)?.revision;
}

/** Finds the timeline entry of a milestone. @throws DomainError `not_found` if the shipment has no such milestone */
export function findEntry({ timeline }: ShipmentState, id: string): TimelineEntry {
  const entry = timeline.find(({ milestone }) => milestone.id === id);
  if (entry === undefined) throw new DomainError('not_found', 'The milestone does not exist.');
  return entry;
}

export function findMilestone(state: ShipmentState, id: string): Milestone | undefined {
  return state.timeline.find((entry) => entry.milestone.id === id)?.milestone;
}

/** Finds an exception. @throws DomainError `not_found` if the shipment has no such exception */
export function findException({ exceptions }: ShipmentState, id: string): ShipmentException {
  const exception = exceptions.find((each) => each.id === id);
  if (exception === undefined) throw new DomainError('not_found', 'The exception does not exist.');
  return exception;
}

type MilestoneSortKey = Pick<Milestone, 'occurred_at' | 'sequence' | 'recorded_at' | 'id'>;

/** Compares two milestones in the order of the timeline and of lists. */
export function compareMilestones(a: MilestoneSortKey, b: MilestoneSortKey): number {
  return (
    compareText(a.occurred_at, b.occurred_at) ||
    a.sequence - b.sequence ||
    compareText(a.recorded_at, b.recorded_at) ||
    compareText(a.id, b.id)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Finds a document. @throws DomainError `not_found` if the shipment has no such document */
export function findDocument({ documents }: ShipmentState, id: string): DocumentState {
  const found = documents.find(({ document }) => document.id === id);
  if (found === undefined) throw new DomainError('not_found', 'The document does not exist.');
  return found;
}
