export {
  type Announcement,
  type EventReference,
  type Snapshot,
  announcementOf,
  publicEvent,
  publicEventId,
  shipmentResource,
} from './announcements.ts';
export { type CheckedMilestone, checkMilestone } from './check-milestone.ts';
export { type CheckedShipment, SHIPMENT_LIMITS, type ShipmentInput, checkShipmentFields } from './check-shipment.ts';
export type * from './commands.ts';
export { decide } from './decide.ts';
export type { CancellationDecision, DecideContext, Decision, MilestoneDecision, UpsertDecision } from './decision.ts';
export type * from './events.ts';
export { evolve, fold } from './evolve.ts';
export { evolveRecord, weightOfRecord } from './evolve-record.ts';
export { type MilestoneChanges, milestoneChanges } from './milestone-changes.ts';
export { type KnownMode, normaliseCode } from './references.ts';
export {
  type Schedule,
  type SeenCommand,
  type ShipmentState,
  type TimelineEntry,
  findMilestone,
  revisionOf,
} from './state.ts';
export {
  SHIPMENT_STREAM_PREFIX,
  isShipmentStream,
  parseShipmentId,
  shipmentIdFrom,
  shipmentIdOf,
  streamOf,
  tokenOf,
} from './shipment-id.ts';
export { toShipmentEvent } from './stored-event.ts';
export { UnknownEventType, eventTypes, upcast } from './upcast.ts';
