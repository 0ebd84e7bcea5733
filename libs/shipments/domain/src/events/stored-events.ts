import type { StoredEventDescriptor } from './descriptor.ts';
import type { EventMetadata } from './event-data.ts';
import {
  type DocumentApprovedEvent,
  documentApprovedDescriptor,
  type DocumentDeletedEvent,
  documentDeletedDescriptor,
  type DocumentExpiredEvent,
  documentExpiredDescriptor,
  type DocumentReceivedEvent,
  documentReceivedDescriptor,
  type DocumentRejectedEvent,
  documentRejectedDescriptor,
  type DocumentRequestedEvent,
  documentRequestedDescriptor,
  type DocumentUploadedEvent,
  documentUploadedDescriptor,
} from './document-events.ts';
import {
  type ExceptionConditionsEndedEvent,
  exceptionConditionsEndedDescriptor,
  type ExceptionOpenedEvent,
  exceptionOpenedDescriptor,
  type ExceptionResolvedEvent,
  exceptionResolvedDescriptor,
  type ExceptionUpdatedEvent,
  exceptionUpdatedDescriptor,
} from './exception-events.ts';
import {
  type MilestoneCorrectedEvent,
  milestoneCorrectedDescriptor,
  type MilestoneRecordedEvent,
  milestoneRecordedDescriptor,
  type MilestoneRetractedEvent,
  milestoneRetractedDescriptor,
  type MilestoneSupersededEvent,
  milestoneSupersededDescriptor,
} from './milestone-events.ts';
import {
  type ShipmentCancelledEvent,
  shipmentCancelledDescriptor,
  type ShipmentChangedEvent,
  shipmentChangedDescriptor,
  type ShipmentCheckedEvent,
  shipmentCheckedDescriptor,
  type ShipmentCreatedEvent,
  shipmentCreatedDescriptor,
  type ShipmentPortsGivenEvent,
  shipmentPortsGivenDescriptor,
  type ShipmentReopenedEvent,
  shipmentReopenedDescriptor,
  type ShipmentUpdatedEvent,
  shipmentUpdatedDescriptor,
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
  | DocumentRequestedEvent
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
  'shipment.created.v1': shipmentCreatedDescriptor,
  'shipment.updated.v1': shipmentUpdatedDescriptor,
  'shipment.ports_given.v1': shipmentPortsGivenDescriptor,
  'shipment.cancelled.v1': shipmentCancelledDescriptor,
  'shipment.reopened.v1': shipmentReopenedDescriptor,
  'shipment.changed.v1': shipmentChangedDescriptor,
  'milestone.recorded.v1': milestoneRecordedDescriptor,
  'milestone.corrected.v1': milestoneCorrectedDescriptor,
  'milestone.retracted.v1': milestoneRetractedDescriptor,
  'milestone.superseded.v1': milestoneSupersededDescriptor,
  'shipment.checked.v1': shipmentCheckedDescriptor,
  'exception.opened.v1': exceptionOpenedDescriptor,
  'exception.updated.v1': exceptionUpdatedDescriptor,
  'exception.resolved.v2': exceptionResolvedDescriptor,
  'exception.conditions_ended.v1': exceptionConditionsEndedDescriptor,
  'document.requested.v1': documentRequestedDescriptor,
  'document.received.v1': documentReceivedDescriptor,
  'document.uploaded.v1': documentUploadedDescriptor,
  'document.approved.v1': documentApprovedDescriptor,
  'document.rejected.v1': documentRejectedDescriptor,
  'document.expired.v1': documentExpiredDescriptor,
  'document.deleted.v1': documentDeletedDescriptor,
};

export const storedEventDescriptors: readonly StoredEventDescriptor<ShipmentEventBody>[] =
  Object.values(STORED_EVENT_DESCRIPTORS);

export function findStoredEventDescriptor(type: StoredEventType): StoredEventDescriptor<ShipmentEventBody> {
  return STORED_EVENT_DESCRIPTORS[type];
}
