import type { Scope, ShipmentRecord } from '@tracking/contracts';
import type { Position } from '@tracking/ports';
import type {
  CancelShipment,
  CancellationAnswer,
  RecordMilestone,
  RecordMilestoneAnswer,
  ReopenShipment,
  UpsertShipment,
  UpsertShipmentAnswer,
} from '@tracking/shipments-domain';
import type { Written } from './answers.ts';

/** A shipment as its stream has it, and the position of its last event. */
export interface FoundShipment {
  readonly record: ShipmentRecord;
  readonly position: Position;
}

/**
 * What is done to shipments. The same command id is the same command, however often and wherever it is sent: it is
 * carried out once and answered the same, so that any command may be repeated after an unknown outcome.
 * Commands of one shipment are serialised, whatever replica they reach.
 * All methods throw `Unavailable` when the outcome is unknown, and `Busy` when nothing was done for want of room.
 */
export interface ShipmentCommands {
  /** Creates a shipment, or changes the one that has this `external_id`. @throws DomainError, Unavailable, Busy */
  upsert(command: Omit<UpsertShipment, 'shipment_id'>): Promise<Written<UpsertShipmentAnswer>>;

  /** @throws DomainError (`not_found` also for another scope's shipment), Unavailable, Busy */
  recordMilestone(command: RecordMilestone): Promise<Written<RecordMilestoneAnswer>>;

  /** @throws DomainError (`already_delivered`; `not_found` also for another scope's shipment), Unavailable, Busy */
  cancel(command: CancelShipment): Promise<Written<CancellationAnswer>>;

  /** @throws DomainError (`cancelled_by_milestone`; `not_found` also for another scope's shipment), Unavailable, Busy */
  reopen(command: ReopenShipment): Promise<Written<CancellationAnswer>>;
}

export interface ShipmentReads {
  /** The shipment from its stream: at least as new as every command answered before the call. @throws Unavailable */
  getShipment(request: GetShipment): Promise<FoundShipment | undefined>;
}

export interface GetShipment extends Scope {
  readonly shipment_id: string;
}

export interface ShipmentsService extends ShipmentCommands, ShipmentReads {}
