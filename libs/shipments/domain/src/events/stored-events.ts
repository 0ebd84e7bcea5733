import type { StoredEventDescriptor } from './descriptor.ts';
import type { EventMetadata } from './event-data.ts';
import {
  type DocumentApproved,
  documentApproved,
  type DocumentDeleted,
  documentDeleted,
  type DocumentExpired,
  documentExpired,
  type DocumentReceived,
  documentReceived,
  type DocumentRejected,
  documentRejected,
  type DocumentRequested,
  documentRequested,
  type DocumentUploaded,
  documentUploaded,
} from './document-events.ts';
import {
  type ExceptionConditionsEnded,
  exceptionConditionsEnded,
  type ExceptionOpened,
  exceptionOpened,
  type ExceptionResolved,
  exceptionResolved,
  type ExceptionUpdated,
  exceptionUpdated,
} from './exception-events.ts';
import {
  type MilestoneCorrected,
  milestoneCorrected,
  type MilestoneRecorded,
  milestoneRecorded,
  type MilestoneRetracted,
  milestoneRetracted,
  type MilestoneSuperseded,
  milestoneSuperseded,
} from './milestone-events.ts';
import {
  type ShipmentCancelled,
  shipmentCancelled,
  type ShipmentChanged,
  shipmentChanged,
  type ShipmentChecked,
  shipmentChecked,
  type ShipmentCreated,
  shipmentCreated,
  type ShipmentPortsGiven,
  shipmentPortsGiven,
  type ShipmentReopened,
  shipmentReopened,
  type ShipmentUpdated,
  shipmentUpdated,
} from './shipment-events.ts';

/** Union of all stored events. The compiler requires a descriptor in `STORED_EVENT_DESCRIPTORS` for each of them. */
export type ShipmentEventBody =
  | ShipmentCreated
  | ShipmentUpdated
  | ShipmentPortsGiven
  | ShipmentCancelled
  | ShipmentReopened
  | ShipmentChanged
  | MilestoneRecorded
  | MilestoneCorrected
  | MilestoneRetracted
  | MilestoneSuperseded
  | ShipmentChecked
  | ExceptionOpened
  | ExceptionUpdated
  | ExceptionResolved
  | ExceptionConditionsEnded
  | DocumentRequested
  | DocumentReceived
  | DocumentUploaded
  | DocumentApproved
  | DocumentRejected
  | DocumentExpired
  | DocumentDeleted;
export type StoredEventType = ShipmentEventBody['type'];
/** An event of a shipment's stream, in its newest version. */
export type ShipmentEvent = ShipmentEventBody & { readonly metadata: EventMetadata; readonly revision: number };

const STORED_EVENT_DESCRIPTORS: {
  readonly [Type in StoredEventType]: StoredEventDescriptor<Extract<ShipmentEventBody, { readonly type: Type }>>;
} = {
  'shipment.created.v1': shipmentCreated,
  'shipment.updated.v1': shipmentUpdated,
  'shipment.ports_given.v1': shipmentPortsGiven,
  'shipment.cancelled.v1': shipmentCancelled,
  'shipment.reopened.v1': shipmentReopened,
  'shipment.changed.v1': shipmentChanged,
  'milestone.recorded.v1': milestoneRecorded,
  'milestone.corrected.v1': milestoneCorrected,
  'milestone.retracted.v1': milestoneRetracted,
  'milestone.superseded.v1': milestoneSuperseded,
  'shipment.checked.v1': shipmentChecked,
  'exception.opened.v1': exceptionOpened,
  'exception.updated.v1': exceptionUpdated,
  'exception.resolved.v2': exceptionResolved,
  'exception.conditions_ended.v1': exceptionConditionsEnded,
  'document.requested.v1': documentRequested,
  'document.received.v1': documentReceived,
  'document.uploaded.v1': documentUploaded,
  'document.approved.v1': documentApproved,
  'document.rejected.v1': documentRejected,
  'document.expired.v1': documentExpired,
  'document.deleted.v1': documentDeleted,
};

export const storedEventDescriptors: readonly StoredEventDescriptor<ShipmentEventBody>[] =
  Object.values(STORED_EVENT_DESCRIPTORS);

export function findStoredEventDescriptor(type: StoredEventType): StoredEventDescriptor<ShipmentEventBody> {
  return STORED_EVENT_DESCRIPTORS[type];
}
