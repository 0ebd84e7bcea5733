import type { StoredEventDescriptor } from './descriptor.ts';
import type { EventMetadata } from './event-data.ts';
import {
  type DocumentApprovedEvent,
  documentApprovedEventDescriptor,
  type DocumentDeletedEvent,
  documentDeletedEventDescriptor,
  type DocumentExpiredEvent,
  documentExpiredEventDescriptor,
  type DocumentReceivedEvent,
  documentReceivedEventDescriptor,
  type DocumentRejectedEvent,
  documentRejectedEventDescriptor,
  type DocumentUploadRequestedEvent,
  documentRequestedEventDescriptor,
  type DocumentUploadedEvent,
  documentUploadedEventDescriptor,
} from './document-events.ts';
import {
  type ExceptionConditionsEndedEvent,
  exceptionConditionsEndedEventDescriptor,
  type ExceptionOpenedEvent,
  exceptionOpenedEventDescriptor,
  type ExceptionResolvedEvent,
  exceptionResolvedEventDescriptor,
  type ExceptionUpdatedEvent,
  exceptionUpdatedEventDescriptor,
} from './exception-events.ts';
import {
  type MilestoneCorrectedEvent,
  milestoneCorrectedEventDescriptor,
  type MilestoneRecordedEvent,
  milestoneRecordedEventDescriptor,
  type MilestoneRetractedEvent,
  milestoneRetractedEventDescriptor,
  type MilestoneSupersededEvent,
  milestoneSupersededEventDescriptor,
} from './milestone-events.ts';
import {
  type ShipmentCancelledEvent,
  shipmentCancelledEventDescriptor,
  type ShipmentChangedEvent,
  shipmentChangedEventDescriptor,
  type ShipmentCheckedEvent,
  shipmentCheckedEventDescriptor,
  type ShipmentCreatedEvent,
  shipmentCreatedEventDescriptor,
  type ShipmentPortsGivenEvent,
  shipmentPortsGivenEventDescriptor,
  type ShipmentReopenedEvent,
  shipmentReopenedEventDescriptor,
  type ShipmentUpdatedEvent,
  shipmentUpdatedEventDescriptor,
} from './shipment-events.ts';

/** Union of all stored events. The compiler requires a descriptor in `STORED_EVENT_DESCRIPTORS` for each of them. */
export type ShipmentEventBody =
  | ShipmentCreatedEvent
  | ShipmentUpdatedEvent
  | ShipmentPortsGivenEvent
  | ShipmentCancelledEvent
  | ShipmentReopenedEvent
  | ShipmentChangedEvent
  | MilestoneRecordedEvent
  | MilestoneCorrectedEvent
  | MilestoneRetractedEvent
  | MilestoneSupersededEvent
  | ShipmentCheckedEvent
  | ExceptionOpenedEvent
  | ExceptionUpdatedEvent
  | ExceptionResolvedEvent
  | ExceptionConditionsEndedEvent
  | DocumentUploadRequestedEvent
  | DocumentReceivedEvent
  | DocumentUploadedEvent
  | DocumentApprovedEvent
  | DocumentRejectedEvent
  | DocumentExpiredEvent
  | DocumentDeletedEvent;
export type StoredEventType = ShipmentEventBody['type'];
/** An event of a shipment's stream, in its newest version. */
export type ShipmentEvent = ShipmentEventBody & { readonly metadata: EventMetadata; readonly revision: number };

const STORED_EVENT_DESCRIPTORS: {
  readonly [Type in StoredEventType]: StoredEventDescriptor<Extract<ShipmentEventBody, { readonly type: Type }>>;
} = {
  'shipment.created.v1': shipmentCreatedEventDescriptor,
  'shipment.updated.v1': shipmentUpdatedEventDescriptor,
  'shipment.ports_given.v1': shipmentPortsGivenEventDescriptor,
  'shipment.cancelled.v1': shipmentCancelledEventDescriptor,
  'shipment.reopened.v1': shipmentReopenedEventDescriptor,
  'shipment.changed.v1': shipmentChangedEventDescriptor,
  'milestone.recorded.v1': milestoneRecordedEventDescriptor,
  'milestone.corrected.v1': milestoneCorrectedEventDescriptor,
  'milestone.retracted.v1': milestoneRetractedEventDescriptor,
  'milestone.superseded.v1': milestoneSupersededEventDescriptor,
  'shipment.checked.v1': shipmentCheckedEventDescriptor,
  'exception.opened.v1': exceptionOpenedEventDescriptor,
  'exception.updated.v1': exceptionUpdatedEventDescriptor,
  'exception.resolved.v2': exceptionResolvedEventDescriptor,
  'exception.conditions_ended.v1': exceptionConditionsEndedEventDescriptor,
  'document.requested.v1': documentRequestedEventDescriptor,
  'document.received.v1': documentReceivedEventDescriptor,
  'document.uploaded.v1': documentUploadedEventDescriptor,
  'document.approved.v1': documentApprovedEventDescriptor,
  'document.rejected.v1': documentRejectedEventDescriptor,
  'document.expired.v1': documentExpiredEventDescriptor,
  'document.deleted.v1': documentDeletedEventDescriptor,
};

export const descriptorsOfAllStoredEventTypes: readonly StoredEventDescriptor<ShipmentEventBody>[] =
  Object.values(STORED_EVENT_DESCRIPTORS);

export function findStoredEventDescriptor(type: StoredEventType): StoredEventDescriptor<ShipmentEventBody> {
  return STORED_EVENT_DESCRIPTORS[type];
}
