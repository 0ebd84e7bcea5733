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
  LastSent,
  LegTimesWritten,
  Overridden,
  ScheduleFields,
  ReceivedObject,
  StoredDocument,
} from './events/event-data.ts';
import type { TakenOff } from './changes.ts';

/** A milestone on the timeline, and when it came: what is newest goes by that, not by `occurred_at`. */
export interface TimelineEntry {
  readonly milestone: Milestone;
  /** Revision of the event that recorded it: as an actual one, where it was an estimate before. */
  readonly recorded: number;
  /** Revision of the event since which it says what it says: a correction of its note alone states no time anew. */
  readonly written: number;
  /** What a feed says otherwise: what repeats it is no news. It outlives the retraction of the milestone. */
  readonly overridden: Overridden;
}

/** A value as the client set it last, and the revision of the event that did: only estimates after it move the answer. */
export interface ClientSet<T> {
  readonly value: T;
  readonly written: number;
}

/** Legs as the client set them last, and by leg the revisions of the events that set its times. */
interface ClientSetLegs {
  readonly value: readonly LegFields[];
  readonly written: readonly LegTimesWritten[];
}

/** What clients set of the fields that estimates move too. */
export interface Schedule {
  readonly etd: ClientSet<Timestamp | null>;
  readonly eta: ClientSet<Timestamp | null>;
  readonly legs: ClientSetLegs;
}

/** The schedule as the first upsert sent it. */
export function scheduleOf({ etd, eta, legs }: LastSent, written: number): Schedule {
  return { etd: { value: etd, written }, eta: { value: eta, written }, legs: setLegs(legs, written) };
}

/**
 * The schedule after the client set some of it.
 * @param legsWritten by leg; where it is absent, this event sets all times of the legs
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
): ClientSetLegs {
  return { value, written: legsWritten };
}

export interface SeenCommand {
  readonly id: string;
  /** Revision of the first event that it appended. */
  readonly revision: number;
}

/** A document, and what its shipment alone remembers of it. */
export interface DocumentInHand extends StoredDocument {
  /** The bytes that came for it while it is pending: the last ones. */
  readonly received: ReceivedObject | null;
  /** Place of its verdict among those on the shipment's documents, from 1; 0 before. Times do not tell: clocks differ. */
  readonly verdict: number;
}

/** A shipment, folded from its stream. Immutable. */
export interface ShipmentState {
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly record: ShipmentRecord;
  readonly schedule: Schedule;
  readonly sent: LastSent;
  /** Null where they are those of the record. */
  readonly ports: GivenPorts | null;
  /** Revision of the event by which the client cancelled it; null unless that stands. */
  readonly cancelled: number | null;
  readonly takenOff: TakenOff;
  /** By occurred_at, catalog sequence, recorded_at, id; retracted and superseded ones included. */
  readonly timeline: readonly TimelineEntry[];
  /** All there ever were, in the order they were opened. */
  readonly exceptions: readonly ShipmentException[];
  /** All there ever were, in the order in which they came. */
  readonly documents: readonly DocumentInHand[];
  /** Those that a person resolved and whose condition has ended since: it may open another one. */
  readonly endedConditions: ReadonlySet<string>;
  /** By exception id: the last note with which a person acknowledged it. */
  readonly acknowledgementNotes: ReadonlyMap<string, string>;
  /** When a milestone or an estimated arrival was last heard of; null if never. */
  readonly heardAt: Timestamp | null;
  /** When time alone next changes something about it, as the last append says; null if never. */
  readonly nextCheckAt: Timestamp | null;
  /** In the order they came. */
  readonly commands: readonly SeenCommand[];
}

/** A state whose lists are nobody else's yet: what folding changes. */
export type ShipmentDraft = { -readonly [Key in keyof ShipmentState]: ShipmentState[Key] } & {
  timeline: TimelineEntry[];
  exceptions: ShipmentException[];
  documents: DocumentInHand[];
  commands: SeenCommand[];
};

/** The revision of the first event of a command that is in the stream; undefined if it appended nothing. */
export function revisionOf(state: ShipmentState, commandId: string): number | undefined {
  return state.commands.findLast((command) => command.id === commandId)?.revision;
}

/** The entry of a milestone that a client names. @throws DomainError `not_found` where the shipment has none of that id */
export function findEntry({ timeline }: ShipmentState, id: string): TimelineEntry {
  const entry = timeline.find(({ milestone }) => milestone.id === id);
  if (entry === undefined) throw new DomainError('not_found', 'There is no such milestone.');
  return entry;
}

export function findMilestone(state: ShipmentState, id: string): Milestone | undefined {
  return state.timeline.find((entry) => entry.milestone.id === id)?.milestone;
}

/** An exception that a client names. @throws DomainError `not_found` where the shipment has none of that id */
export function findException({ exceptions }: ShipmentState, id: string): ShipmentException {
  const exception = exceptions.find((each) => each.id === id);
  if (exception === undefined) throw new DomainError('not_found', 'There is no such exception.');
  return exception;
}

type MilestonePlace = Pick<Milestone, 'occurred_at' | 'sequence' | 'recorded_at' | 'id'>;

/** The order of the timeline and of lists. */
export function compareMilestones(a: MilestonePlace, b: MilestonePlace): number {
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

/** The document that a client names. @throws DomainError `not_found` where the shipment has none of that id */
export function findDocument({ documents }: ShipmentState, id: string): DocumentInHand {
  const found = documents.find(({ document }) => document.id === id);
  if (found === undefined) throw new DomainError('not_found', 'There is no such document.');
  return found;
}
