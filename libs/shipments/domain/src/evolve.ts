import { chooseLatestTime, type ShipmentException, type ShipmentRecord } from '@tracking/contracts';
import { putDocumentsIntoShipmentDraft } from './documents.ts';
import { copyDroppedEstimates, dropEstimatesFromTimeline } from './dropped-estimates.ts';
import { type ExceptionChange, readNextCheckTime, type DocumentWithFileId } from './events/event-data.ts';
import { findStoredEventDescriptor, type ShipmentEvent, type ShipmentEventBody } from './events/stored-events.ts';
import type { ShipmentDraft, ShipmentState } from './state.ts';
import { type TimelineChangesOfEvent, insertMilestone } from './timeline.ts';

/** Returns the state after one more event. Pure. */
export function applyEventToState(state: ShipmentState | undefined, event: ShipmentEvent): ShipmentState {
  return applyEventToShipmentDraft(state === undefined ? undefined : createMutableCopyOfShipmentState(state), event);
}

/**
 * Returns the state after many events. Equals repeated calls of `evolve`, but copies the lists only once. Undefined if
 * there are no events and no previous state.
 */
export function fold(events: Iterable<ShipmentEvent>, state?: ShipmentState): ShipmentState | undefined {
  let draft = state === undefined ? undefined : createMutableCopyOfShipmentState(state);
  for (const event of events) draft = applyEventToShipmentDraft(draft, event);
  return draft;
}

function createMutableCopyOfShipmentState(state: ShipmentState): ShipmentDraft {
  return {
    ...state,
    timeline: state.timeline.slice(),
    droppedEstimates: copyDroppedEstimates(state.droppedEstimates),
    exceptions: state.exceptions.slice(),
    documents: state.documents.slice(),
    commands: state.commands.slice(),
  };
}

function applyEventToShipmentDraft(before: ShipmentDraft | undefined, event: ShipmentEvent): ShipmentDraft {
  const { type, data, revision, metadata } = event;
  const descriptor = findStoredEventDescriptor(type);
  const draft = before ?? descriptor.begin?.(data, revision);
  if (draft === undefined) throw createMissingCreationError(event);
  draft.record = applyEventToShipmentRecord(draft.record, event);
  if (draft.commands.at(-1)?.id !== metadata.command_id) draft.commands.push({ id: metadata.command_id, revision });
  applyMilestoneChanges(draft, event);
  putDocumentsIntoShipmentDraft(draft, ...listDocumentsChangedByEvent(event));
  const exception = readExceptionChange(event);
  if (exception !== undefined) addOrReplaceException(draft.exceptions, exception);
  descriptor.applyToState?.(draft, data, { revision, at: metadata.recorded_at });
  // A late command can have the time of its first attempt, so a later `updated_at` is kept.
  if (descriptor.isNews?.(data) === true)
    draft.lastNewsAt = chooseLatestTime(metadata.recorded_at, draft.lastNewsAt ?? '');
  draft.nextCheckAt = readNextCheckTime(metadata);
  return draft;
}

function applyMilestoneChanges(draft: ShipmentDraft, event: ShipmentEvent): void {
  const changes = readTimelineChangesOfEvent(event);
  if (changes === undefined) return;
  insertMilestone(draft.timeline, changes, event.revision);
  dropEstimatesFromTimeline(draft, changes.dropped ?? []);
}

/** Returns the changes that an event makes to the timeline; undefined if there are none. */
export function readTimelineChangesOfEvent({
  type,
  data,
  metadata,
}: ShipmentEvent): TimelineChangesOfEvent | undefined {
  const changes = findStoredEventDescriptor(type).milestoneChanges?.(data);
  return changes && { ...changes, at: metadata.recorded_at };
}

/** Returns the fields of an exception that an event sets; undefined if the event does not change an exception. */
export function readExceptionChange({ type, data }: ShipmentEventBody): ExceptionChange | undefined {
  return findStoredEventDescriptor(type).exception?.(data);
}

/** Returns the documents that an event adds or changes, in their new state. */
export function listDocumentsChangedByEvent({ type, data }: ShipmentEventBody): readonly DocumentWithFileId[] {
  return findStoredEventDescriptor(type).documents?.(data) ?? [];
}

/**
 * Returns the documents after events that add or change some of them. Ignores received bytes, which `applyToState`
 * records.
 */
export function applyDocumentChanges(
  before: ShipmentState['documents'],
  events: readonly ShipmentEventBody[],
): ShipmentState['documents'] {
  const draft = { documents: before.slice() };
  for (const event of events) putDocumentsIntoShipmentDraft(draft, ...listDocumentsChangedByEvent(event));
  return draft.documents;
}

/**
 * Returns the record after one more event.
 * @throws Error if the first event is not a creation, because the stream is incomplete
 */
export function evolveShipmentRecord(record: ShipmentRecord | undefined, event: ShipmentEvent): ShipmentRecord {
  const { type, data, revision } = event;
  const before = findStoredEventDescriptor(type).begin?.(data, revision).record ?? record;
  if (before === undefined) throw createMissingCreationError(event);
  return applyEventToShipmentRecord(before, event);
}

/** @param before record before the event; for the first event of a stream, the record that the event creates */
function applyEventToShipmentRecord(before: ShipmentRecord, event: ShipmentEvent): ShipmentRecord {
  const { type, data, revision, metadata } = event;
  const after = findStoredEventDescriptor(type).applyToRecord?.(before, data) ?? before;
  // The clocks of machines differ, but `updated_at` must never decrease.
  const { recorded_at } = metadata;
  const updated_at = recorded_at > before.updated_at ? recorded_at : before.updated_at;
  return { ...after, updated_at, version: revision + 1 };
}

function createMissingCreationError({ type, revision }: ShipmentEvent): Error {
  return new Error(`${type} at revision ${revision} does not create a shipment`);
}

/**
 * Returns the memory of a record in units of an ordinary shipment, at least 1. Clients can fill some fields without
 * limit, so a shipment can be a thousand times as large as an ordinary one.
 */
export function computeRecordMemoryWeight({ containers, legs, references, metadata }: ShipmentRecord): number {
  return Math.round(1 + containers.length / 2 + JSON.stringify([legs, references, metadata]).length / 1_000);
}

/** Returns true if the change contains the whole exception, so that the previous exception is not needed. */
export function isWholeExceptionInChange(change: ExceptionChange): change is ShipmentException {
  return change.opened_at !== undefined;
}

/**
 * Returns the exception after a change.
 * @param before the exception before the change; undefined if it is not known
 */
export function applyChangeToException(
  change: ExceptionChange,
  before: ShipmentException | undefined,
): ShipmentException {
  if (isWholeExceptionInChange(change)) return change;
  if (before === undefined) throw new Error(`exception ${change.id} changed but was never opened`);
  return { ...before, ...change };
}

/** Replaces the changed exception in the list, or appends a new one. */
function addOrReplaceException(exceptions: ShipmentException[], change: ExceptionChange): void {
  const place = exceptions.findIndex(({ id }) => id === change.id);
  const after = applyChangeToException(change, exceptions[place]);
  if (place === -1) exceptions.push(after);
  else exceptions[place] = after;
}
