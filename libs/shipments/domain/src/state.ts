import {
  DomainError,
  type Environment,
  type LegFields,
  type Milestone,
  type ShipmentException,
  type ShipmentRecord,
  type TimeOrDay,
  type Timestamp,
} from '@tracking/contracts';
import type {
  GivenPorts,
  LastUpsertValues,
  EstimateReport,
  EventRevisionsOfLegTimes,
  Overridden,
  ScheduleFields,
  ReceivedDocumentFile,
  DocumentWithFileId,
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
  /**
   * Former reports of an estimate that its sender has changed under the same `external_id`, in the order in which they
   * were stated: the earliest and the latest ones. The original ETA, and the ETA after the arrival, depend on them.
   */
  readonly formerReports: readonly EstimateReport[];
}

/** Returns the time of a milestone; null if there is no milestone. */
export function getOccurredAt(entry: TimelineEntry | undefined): Timestamp | null {
  return entry?.milestone.occurred_at ?? null;
}

/**
 * Times of superseded estimates that are no longer on the timeline, of one series: with the same code, container, place
 * and source. Actual times decide which of them count, and repetitions of them are recognized.
 */
export interface DroppedReportSeries {
  /** One of the estimates, without its id. The others differ in their times, and in fields without effect. */
  readonly sample: Milestone;
  /**
   * Three numbers for each report, in the order in which the reports were stated: `reported_at` and `occurred_at` in
   * milliseconds, and the revision of the event that stated it.
   */
  readonly times: readonly number[];
  /**
   * Latest `reported_at` of the reports whose times are no longer known, in milliseconds; `-Infinity` if all are known.
   */
  readonly forgottenUntil: number;
  /** Revision of the latest event that stated one of the reports. */
  readonly lastWritten: number;
}

/** The client's value, with the revision of its event. Only estimates that are reported later override the value. */
export interface ValueSetByClient<T> {
  readonly value: T;
  readonly written: number;
}

/** The client's last legs, with the revisions of the events that set their times. */
interface LegsSentByClient {
  readonly value: readonly LegFields[];
  readonly written: readonly EventRevisionsOfLegTimes[];
}

/** The client's values for fields that estimates also set. */
export interface ClientScheduleValues {
  readonly etd: ValueSetByClient<TimeOrDay | null>;
  readonly eta: ValueSetByClient<TimeOrDay | null>;
  readonly legs: LegsSentByClient;
  /** The client's ETA that counts after the arrival. Upserts after the arrival do not change it. */
  readonly etaAtArrival: ValueSetByClient<TimeOrDay | null>;
  /** The first ETA that the client gave since it last set `original_eta`, for the shipment or its last leg; else null. */
  readonly firstEta: ValueSetByClient<TimeOrDay> | null;
  /** Times of the events that set the values, by revision. Values of the first upsert precede all estimates. */
  readonly givenAt: ReadonlyMap<number, Timestamp>;
}

/**
 * Returns the time when the client gave a value; empty, and thus before every time, if it created the shipment with it.
 */
export function getTimeWhenClientGaveValue(
  { givenAt }: Pick<ClientScheduleValues, 'givenAt'>,
  written: number,
): Timestamp {
  return givenAt.get(written) ?? '';
}

/** Returns true if the client gave a value after a time; for an empty time always. */
export function isClientValueGivenAfter(
  schedule: Pick<ClientScheduleValues, 'givenAt'>,
  written: number,
  time: Timestamp,
): boolean {
  return time === '' || getTimeWhenClientGaveValue(schedule, written) > time;
}

/** The original ETA that the client set. */
export interface OriginalEtaSetByClient {
  /** The value; null if the original ETA is the earliest ETA that was reported. */
  readonly value: TimeOrDay | null;
  /** Time when the client set or cleared the value; empty if it never did. Reports from before this time do not count. */
  readonly since: Timestamp;
}
export const NO_ORIGINAL_ETA: OriginalEtaSetByClient = { value: null, since: '' };

/** Creates the schedule from the first upsert. */
export function createClientScheduleFromFirstUpsert(
  { etd, eta, legs }: LastUpsertValues,
  written: number,
): ClientScheduleValues {
  const given = {
    etd: { value: etd, written },
    eta: { value: eta, written },
    legs: createClientLegsWithRevisions(legs, written),
  };
  const etaAtArrival = getEtaSetByClient(given);
  return { ...given, etaAtArrival, firstEta: toFirstEta(etaAtArrival), givenAt: new Map() };
}

/** Returns the ETA that the client gave for the shipment; if it gave none, that of the last leg. */
function getEtaSetByClient({
  eta,
  legs,
}: Pick<ClientScheduleValues, 'eta' | 'legs'>): ValueSetByClient<TimeOrDay | null> {
  const ofLeg = legs.value.at(-1)?.eta ?? null;
  if (eta.value !== null || ofLeg === null) return eta;
  return { value: ofLeg, written: legs.written.at(-1)?.eta ?? eta.written };
}

function toFirstEta({ value, written }: ValueSetByClient<TimeOrDay | null>): ValueSetByClient<TimeOrDay> | null {
  return value === null ? null : { value, written };
}

/** An event with which a client sets fields of the schedule. */
interface ClientScheduleUpdate {
  readonly revision: number;
  readonly at: Timestamp;
  /** True if the event is an upsert after the arrival, which does not change the ETA of the shipment. */
  readonly keepsEta: boolean;
  /** Time when the client last set or reset `original_eta`; empty if it never did. Its first ETA is given later. */
  readonly originalEtaSince: Timestamp;
}

/**
 * Returns the schedule after the client set some fields.
 * @param legsWritten revisions by leg; if absent, this event sets all times of the legs
 */
export function applyFieldsToClientSchedule(
  schedule: ClientScheduleValues,
  fields: ScheduleFields,
  { revision: written, at, keepsEta, originalEtaSince }: ClientScheduleUpdate,
  legsWritten?: readonly EventRevisionsOfLegTimes[],
): ClientScheduleValues {
  const { etd, eta, legs } = fields;
  if (etd === undefined && eta === undefined && legs === undefined) return schedule;
  const given = {
    etd: etd === undefined ? schedule.etd : { value: etd, written },
    eta: eta === undefined ? schedule.eta : { value: eta, written },
    legs: legs === undefined ? schedule.legs : createClientLegsWithRevisions(legs, written, legsWritten),
  };
  const movesEta = (eta !== undefined || legs !== undefined) && !keepsEta;
  const etaAtArrival = movesEta ? getEtaSetByClient(given) : schedule.etaAtArrival;
  const { firstEta: former } = schedule;
  const isFormer = former !== null && isClientValueGivenAfter(schedule, former.written, originalEtaSince);
  const firstEta = isFormer ? former : toFirstEta(etaAtArrival);
  const after = { ...given, etaAtArrival, firstEta };
  const givenAt = new Map([...schedule.givenAt, [written, at]]);
  return { ...after, givenAt: dropTimesOfReplacedValues(givenAt, after) };
}

/** Drops the times of events whose values are all replaced. */
function dropTimesOfReplacedValues(
  givenAt: ReadonlyMap<number, Timestamp>,
  { etd, eta, legs, etaAtArrival, firstEta }: Omit<ClientScheduleValues, 'givenAt'>,
): ReadonlyMap<number, Timestamp> {
  const used = new Set([etd.written, eta.written, etaAtArrival.written, firstEta?.written]);
  for (const leg of legs.written) used.add(leg.etd).add(leg.eta);
  return new Map([...givenAt].filter(([revision]) => used.has(revision)));
}

function createClientLegsWithRevisions(
  value: readonly LegFields[],
  written: number,
  legsWritten: readonly EventRevisionsOfLegTimes[] = value.map(() => ({ etd: written, eta: written })),
): LegsSentByClient {
  return { value, written: legsWritten };
}

export interface CommandIdWithFirstEventRevision {
  readonly id: string;
  /** Revision of the first event that the command appended. */
  readonly revision: number;
}

/** A document with internal data of its shipment. */
export interface DocumentState extends DocumentWithFileId {
  /** The file received last, while the document is pending. */
  readonly received: ReceivedDocumentFile | null;
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
  readonly schedule: ClientScheduleValues;
  readonly sent: LastUpsertValues;
  /** Ports that the client set for the shipment; null if they equal the ports of the record. */
  readonly ports: GivenPorts | null;
  readonly originalEta: OriginalEtaSetByClient;
  /** Revision of the event with which the client cancelled it; null if it is not cancelled by the client. */
  readonly cancelled: number | null;
  readonly removedContainers: RemovedContainers;
  /**
   * Milestones sorted by occurred_at, catalog sequence, recorded_at and id, including retracted and superseded ones.
   */
  readonly timeline: readonly TimelineEntry[];
  /** Reports of superseded estimates that are no longer on the timeline, by series. */
  readonly droppedEstimates: ReadonlyMap<string, DroppedReportSeries>;
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
  readonly commands: readonly CommandIdWithFirstEventRevision[];
}

type DroppedReportsDraft = {
  -readonly [Key in Exclude<keyof DroppedReportSeries, 'times'>]: DroppedReportSeries[Key];
} & {
  times: number[];
};

/** Draft of a state. It has its own copies of the lists, which folding modifies. */
export type ShipmentDraft = {
  -readonly [Key in Exclude<keyof ShipmentState, 'droppedEstimates'>]: ShipmentState[Key];
} & {
  timeline: TimelineEntry[];
  droppedEstimates: Map<string, DroppedReportsDraft>;
  exceptions: ShipmentException[];
  documents: DocumentState[];
  commands: CommandIdWithFirstEventRevision[];
};

/** Returns the revision of the first event that a command appended; undefined if it appended nothing. */
export function findRevisionAppendedByCommand(state: ShipmentState, commandId: string): number | undefined {
  return state.commands.findLast((command) => command.id === commandId)?.revision;
}

/** Finds the timeline entry of a milestone. @throws DomainError `not_found` if the shipment has no such milestone */
export function findTimelineEntryOrThrow({ timeline }: ShipmentState, id: string): TimelineEntry {
  const entry = timeline.find(({ milestone }) => milestone.id === id);
  if (entry === undefined) throw new DomainError('not_found', 'The milestone does not exist.');
  return entry;
}

export function findMilestone(state: ShipmentState, id: string): Milestone | undefined {
  return state.timeline.find((entry) => entry.milestone.id === id)?.milestone;
}

/** Finds an exception. @throws DomainError `not_found` if the shipment has no such exception */
export function findExceptionOrThrow({ exceptions }: ShipmentState, id: string): ShipmentException {
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
export function findDocumentOrThrow({ documents }: ShipmentState, id: string): DocumentState {
  const found = documents.find(({ document }) => document.id === id);
  if (found === undefined) throw new DomainError('not_found', 'The document does not exist.');
  return found;
}
