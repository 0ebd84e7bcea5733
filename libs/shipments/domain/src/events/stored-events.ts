import type { StoredEventDescriptor } from './descriptor.ts';
import type { EventMetadata } from './event-data.ts';
import { type DocumentApproved, documentApproved } from './document-approved.ts';
import { type DocumentDeleted, documentDeleted } from './document-deleted.ts';
import { type DocumentExpired, documentExpired } from './document-expired.ts';
import { type DocumentReceived, documentReceived } from './document-received.ts';
import { type DocumentRejected, documentRejected } from './document-rejected.ts';
import { type DocumentRequested, documentRequested } from './document-requested.ts';
import { type DocumentUploaded, documentUploaded } from './document-uploaded.ts';
import { type ExceptionConditionsEnded, exceptionConditionsEnded } from './exception-conditions-ended.ts';
import { type ExceptionOpened, exceptionOpened } from './exception-opened.ts';
import { type ExceptionResolved, exceptionResolved } from './exception-resolved.ts';
import { type ExceptionUpdated, exceptionUpdated } from './exception-updated.ts';
import { type MilestoneCorrected, milestoneCorrected } from './milestone-corrected.ts';
import { type MilestoneRecorded, milestoneRecorded } from './milestone-recorded.ts';
import { type MilestoneRetracted, milestoneRetracted } from './milestone-retracted.ts';
import { type ShipmentCancelled, shipmentCancelled } from './shipment-cancelled.ts';
import { type ShipmentChanged, shipmentChanged } from './shipment-changed.ts';
import { type ShipmentChecked, shipmentChecked } from './shipment-checked.ts';
import { type ShipmentCreated, shipmentCreated } from './shipment-created.ts';
import { type ShipmentPortsGiven, shipmentPortsGiven } from './shipment-ports-given.ts';
import { type ShipmentReopened, shipmentReopened } from './shipment-reopened.ts';
import { type ShipmentUpdated, shipmentUpdated } from './shipment-updated.ts';

/** Every stored event, each in a file of its own; the compiler asks for the descriptor of each. */
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

const DESCRIPTORS: {
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

export const storedEvents: readonly StoredEventDescriptor<ShipmentEventBody>[] = Object.values(DESCRIPTORS);

/** Everything known of an event of this type. */
export function descriptorOf(type: StoredEventType): StoredEventDescriptor<ShipmentEventBody> {
  return DESCRIPTORS[type];
}
