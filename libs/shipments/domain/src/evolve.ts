import { latestOf } from '@tracking/contracts';
import { type ExceptionChange, putException } from './events/exception-change.ts';
import { type ShipmentEvent, type ShipmentEventBody, descriptorOf } from './events/stored-events.ts';
import { nextCheckOf } from './events/event-data.ts';
import { type StoredDocument, putDocuments } from './events/stored-document.ts';
import { beginsNoShipment, recordAfter } from './evolve-record.ts';
import type { ShipmentDraft, ShipmentState } from './state.ts';
import { type MilestoneChanges, putMilestone } from './timeline.ts';

/** The state after one more event. Pure; only copies. */
export function evolve(state: ShipmentState | undefined, event: ShipmentEvent): ShipmentState {
  return apply(state === undefined ? undefined : draftOf(state), event);
}

/**
 * The state after many events, as `evolve` one after another would give it, without a copy of the lists for each.
 * Undefined for no events and no state before them.
 */
export function fold(events: Iterable<ShipmentEvent>, state?: ShipmentState): ShipmentState | undefined {
  let draft = state === undefined ? undefined : draftOf(state);
  for (const event of events) draft = apply(draft, event);
  return draft;
}

function draftOf(state: ShipmentState): ShipmentDraft {
  return {
    ...state,
    timeline: state.timeline.slice(),
    exceptions: state.exceptions.slice(),
    documents: state.documents.slice(),
    commands: state.commands.slice(),
  };
}

function apply(before: ShipmentDraft | undefined, event: ShipmentEvent): ShipmentDraft {
  const { type, data, revision, metadata } = event;
  const descriptor = descriptorOf(type);
  const draft = before ?? descriptor.begin?.(data, revision);
  if (draft === undefined) throw beginsNoShipment(event);
  draft.record = recordAfter(draft.record, event);
  if (draft.commands.at(-1)?.id !== metadata.command_id) draft.commands.push({ id: metadata.command_id, revision });
  const changes = milestoneChanges(event);
  if (changes !== undefined) putMilestone(draft.timeline, changes, revision);
  putDocuments(draft, ...documentsOf(event));
  const exception = exceptionChange(event);
  if (exception !== undefined) putException(draft.exceptions, exception);
  descriptor.applyToState?.(draft, data, revision);
  // A command may be carried out late, with the time of its first attempt: news that came since stays the last.
  if (descriptor.isNews?.(data) === true) draft.heardAt = latestOf(metadata.recorded_at, draft.heardAt ?? '');
  draft.nextCheckAt = nextCheckOf(metadata);
  return draft;
}

/** What a list of milestones must write for an event; undefined for one that touches none. */
export function milestoneChanges({ type, data, metadata }: ShipmentEvent): MilestoneChanges | undefined {
  const changes = descriptorOf(type).milestoneChanges?.(data);
  return changes && { ...changes, at: metadata.recorded_at };
}

/** What an event sets of an exception; undefined for one that touches none. */
export function exceptionChange({ type, data }: ShipmentEventBody): ExceptionChange | undefined {
  return descriptorOf(type).exception?.(data);
}

/** The documents that an event adds or changes, as they are then. */
export function documentsOf({ type, data }: ShipmentEventBody): readonly StoredDocument[] {
  return descriptorOf(type).documents?.(data) ?? [];
}

/** Documents after events that add or change some; of bytes that came for them, events alone tell. */
export function documentsAfter(
  before: ShipmentState['documents'],
  events: readonly ShipmentEventBody[],
): ShipmentState['documents'] {
  const draft = { documents: before.slice() };
  for (const event of events) putDocuments(draft, ...documentsOf(event));
  return draft.documents;
}
