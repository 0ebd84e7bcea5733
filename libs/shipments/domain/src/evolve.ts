import type { ShipmentRecord } from '@tracking/contracts';
import type { ShipmentEvent, ShipmentException } from './events.ts';
import { evolveRecord } from './evolve-record.ts';
import { milestoneChanges } from './milestone-changes.ts';
import { type SeenCommand, type ShipmentState, type TimelineEntry, scheduleOf, setSchedule } from './state.ts';
import { putMilestone } from './timeline.ts';

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

/** A state whose lists are nobody else's yet. */
type Draft = { -readonly [Key in keyof ShipmentState]: ShipmentState[Key] } & {
  timeline: TimelineEntry[];
  exceptions: ShipmentException[];
  commands: SeenCommand[];
};

function draftOf(state: ShipmentState): Draft {
  return {
    ...state,
    timeline: state.timeline.slice(),
    exceptions: state.exceptions.slice(),
    commands: state.commands.slice(),
  };
}

function apply(before: Draft | undefined, event: ShipmentEvent): Draft {
  const record = evolveRecord(before?.record, event);
  const draft = before ?? created(record, event);
  draft.record = record;
  if (draft.commands.at(-1)?.id !== event.metadata.command_id) {
    draft.commands.push({ id: event.metadata.command_id, revision: event.revision });
  }
  switch (event.type) {
    case 'shipment.updated.v1':
      draft.schedule = setSchedule(draft.schedule, event.data.fields, event.revision);
      draft.sent = event.data.sent;
      break;
    case 'shipment.ports_given.v1':
      draft.ports = event.data;
      break;
    case 'shipment.cancelled.v1':
      draft.cancelled = event.revision;
      break;
    case 'shipment.reopened.v1':
      draft.cancelled = null;
      break;
    case 'milestone.recorded.v1':
    case 'milestone.corrected.v1':
      putMilestone(draft.timeline, milestoneChanges(event), event.revision);
      break;
    case 'exception.opened.v1':
      draft.exceptions.push(event.data.exception);
      break;
    case 'exception.resolved.v1': {
      const { exception } = event.data;
      const place = draft.exceptions.findIndex((each) => each.id === exception.id);
      draft.exceptions[place] = exception;
      break;
    }
    case 'shipment.created.v1':
    case 'shipment.changed.v1':
      break;
  }
  return draft;
}

function created(record: ShipmentRecord, event: ShipmentEvent): Draft {
  if (event.type !== 'shipment.created.v1') throw new Error(`${event.type} begins no shipment`);
  const { workspace_id, environment, sent } = event.data;
  return {
    workspace_id,
    environment,
    record,
    schedule: scheduleOf(sent, event.revision),
    sent,
    ports: null,
    cancelled: null,
    timeline: [],
    exceptions: [],
    commands: [],
  };
}
