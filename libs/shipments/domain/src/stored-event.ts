import {
  addMissingMilestoneDetails,
  addMissingLegPrecisions,
  type JsonObject,
  type Milestone,
  type ShipmentRecord,
} from '@tracking/contracts';
import type { FormerEventVersion } from './events/descriptor.ts';
import type { EventMetadata } from './events/event-data.ts';
import {
  type ShipmentEvent,
  type ShipmentEventBody,
  descriptorsOfAllStoredEventTypes,
} from './events/stored-events.ts';

/** Prefix of shipment ids. The id and the stream name of a shipment contain the same token. */
const SHIPMENT_ID_PREFIX = 'shp_';
/**
 * Prefix of the stream names of shipments. The character after it is uniformly distributed, so that streams can be
 * partitioned by it.
 */
export const SHIPMENT_STREAM_PREFIX = 'shipment-';

/** Pattern of 128 bits in base32. The last of the 26 characters holds three bits, so it has eight possible values. */
const SHIPMENT_ID_PATTERN = /^shp_[a-z2-7]{25}[aeimquy4]$/;

/** Patterns of ids of exceptions and documents: the shipment's token, then 80 more bits. */
const SHIPMENT_PART_ID_PATTERNS = {
  exception: /^exc_([a-z2-7]{25}[aeimquy4])[a-z2-7]{16}$/,
  document: /^doc_([a-z2-7]{25}[aeimquy4])[a-z2-7]{16}$/,
} as const;

/** Returns the id of the shipment to which an exception or document belongs; undefined if the id is malformed. */
export function parseShipmentIdOfPart(part: keyof typeof SHIPMENT_PART_ID_PATTERNS, id: unknown): string | undefined {
  const token = typeof id === 'string' ? SHIPMENT_PART_ID_PATTERNS[part].exec(id)?.[1] : undefined;
  return token === undefined ? undefined : createShipmentIdFromToken(token);
}

/** Returns the id of a shipment. @param token 26 characters of base32 */
export function createShipmentIdFromToken(token: string): string {
  return SHIPMENT_ID_PREFIX + token;
}

/** Returns the id if it is well-formed, otherwise undefined. Only a well-formed id may become part of a stream name. */
export function parseShipmentId(id: unknown): string | undefined {
  return typeof id === 'string' && SHIPMENT_ID_PATTERN.test(id) ? id : undefined;
}

/**
 * Converts `shp_<token>` to `<token>`. The ids of a shipment's milestones, exceptions and documents begin with the
 * token.
 */
export function removeShipmentIdPrefix(shipmentId: string): string {
  return shipmentId.slice(SHIPMENT_ID_PREFIX.length);
}

/** Converts `shp_<token>` to `shipment-<token>`. Returns other text unchanged; no stream has such a name. */
export function toShipmentStreamName(shipmentId: string): string {
  return shipmentId.replace(/^shp_/, SHIPMENT_STREAM_PREFIX);
}

/** Converts `shipment-<token>` to `shp_<token>`. */
export function convertStreamNameToShipmentId(stream: string): string {
  return stream.replace(/^shipment-/, SHIPMENT_ID_PREFIX);
}

/** Returns true if the stream belongs to a shipment. */
export function isShipmentStream(stream: unknown): boolean {
  return (
    typeof stream === 'string' &&
    stream.startsWith(SHIPMENT_STREAM_PREFIX) &&
    parseShipmentId(convertStreamNameToShipmentId(stream)) !== undefined
  );
}

/** An event from a shipment's stream, as stored. */
interface StoredShipmentEvent {
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
  readonly revision: number;
}

/**
 * Converts a stored event to its newest version. Every reader of a stream uses this function.
 * @throws UnknownEventTypeError
 */
export function upcastStoredShipmentEvent({ type, data, metadata, revision }: StoredShipmentEvent): ShipmentEvent {
  // Only `addMetadataToShipmentEvents` writes metadata, with every field that `EventMetadata` requires.
  return { ...upcastEventBody(type, data), metadata: metadata as unknown as EventMetadata, revision };
}

/** Error for a stored event of an unknown type: a newer version wrote it, or it does not belong to a shipment. */
export class UnknownEventTypeError extends Error {
  override readonly name = 'UnknownEventType';
  constructor(readonly type: string) {
    super(`unknown type of shipment event: ${type}`);
  }
}

interface EventTypeVersions {
  readonly type: string;
  readonly formerVersions?: readonly FormerEventVersion[];
}
interface StoredEventBody {
  readonly type: string;
  readonly data: JsonObject;
}

/** Returns a function that converts stored events of any version to the newest version. */
export function createEventUpcaster(
  kinds: readonly EventTypeVersions[],
): (type: string, data: JsonObject) => StoredEventBody {
  const known = new Map<string, (data: JsonObject) => StoredEventBody>();
  for (const { type, formerVersions = [] } of kinds) {
    known.set(type, (data) => ({ type, data }));
    formerVersions.forEach((former, place) => {
      const steps = formerVersions.slice(place);
      known.set(former.type, (data) => ({ type, data: steps.reduce((older, { upcast }) => upcast(older), data) }));
    });
  }
  return (type, data) => {
    const upcast = known.get(type);
    if (upcast === undefined) throw new UnknownEventTypeError(type);
    return upcast(data);
  };
}

const upcastStoredEvent = createEventUpcaster(descriptorsOfAllStoredEventTypes);

/** Converts the body of a stored event to its newest version. @throws UnknownEventTypeError */
export function upcastEventBody(type: string, data: JsonObject): ShipmentEventBody {
  // The cast is safe, because the type determines the form of the data.
  return addMissingMilestoneFields(
    addMissingTimePrecisionsToEvent(upcastStoredEvent(type, data) as unknown as ShipmentEventBody),
  );
}

/** Adds the precisions to the shipment or legs of an event that was stored before days were known. */
function addMissingTimePrecisionsToEvent(event: ShipmentEventBody): ShipmentEventBody {
  if (event.type === 'shipment.created.v1') {
    const { shipment } = event.data;
    if ((shipment as Partial<ShipmentRecord>).eta_precision !== undefined) return event;
    const legs = addMissingLegPrecisions(shipment.legs);
    return { ...event, data: { ...event.data, shipment: { ...shipment, ...DEFAULT_TIME_PRECISIONS, legs } } };
  }
  if (event.type !== 'shipment.changed.v1') return event;
  const { changes } = event.data;
  if (changes.legs === undefined) return event;
  const { from, to } = changes.legs;
  const legs = { from: addMissingLegPrecisions(from), to: addMissingLegPrecisions(to) };
  if (legs.from === from && legs.to === to) return event;
  return { ...event, data: { ...event.data, changes: { ...changes, legs } } };
}

const DEFAULT_TIME_PRECISIONS = {
  etd_precision: 'time',
  eta_precision: 'time',
  original_eta_precision: 'time',
} as const;

/** Adds the fields to the milestones of an event that did not exist when the event was stored. */
function addMissingMilestoneFields(event: ShipmentEventBody): ShipmentEventBody {
  if (event.type === 'milestone.recorded.v1' || event.type === 'milestone.retracted.v1')
    return addMissingFieldsToMilestones(event, ['milestone']);
  if (event.type === 'milestone.corrected.v1') return addMissingFieldsToMilestones(event, ['milestone', 'previous']);
  if (event.type !== 'shipment.changed.v1') return event;
  const { changes } = event.data;
  if (changes.milestone === undefined) return event;
  const { from, to } = changes.milestone;
  const milestone = { from: addMissingMilestoneDetails(from), to: to && addMissingMilestoneDetails(to) };
  if (milestone.from === from && milestone.to === to) return event;
  return { ...event, data: { ...event.data, changes: { ...changes, milestone } } };
}

function addMissingFieldsToMilestones<
  Field extends string,
  Event extends { readonly data: Readonly<Record<Field, Milestone>> },
>(event: Event, fields: readonly Field[]): Event {
  const isComplete = fields.every((field) => addMissingMilestoneDetails(event.data[field]) === event.data[field]);
  if (isComplete) return event;
  const completed = Object.fromEntries(fields.map((field) => [field, addMissingMilestoneDetails(event.data[field])]));
  return { ...event, data: { ...event.data, ...completed } };
}

/** Types of all events that were ever stored, in all versions. */
export const storedEventTypes: readonly string[] = descriptorsOfAllStoredEventTypes.flatMap(
  ({ type, formerVersions = [] }) => [...formerVersions.map((former) => former.type), type],
);
