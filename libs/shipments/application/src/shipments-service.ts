import type { AnswerOf, CommandOf, CommandType } from '@tracking/shipments-domain';
import type { Written } from './answers.ts';
import type { ShipmentReads } from './reads/shipment-reads.ts';

/** A command as the edge sends it: the id of a shipment that it may create is made of its `external_id`. */
export type SubmittedCommand<Type extends CommandType> = Type extends 'UpsertShipment'
  ? Omit<CommandOf<Type>, 'shipment_id'>
  : CommandOf<Type>;

/**
 * What is done to shipments: an operation for each command of the domain, `upsertShipment` for `UpsertShipment`. The same
 * command id is the same command, however often and wherever it is sent: it is carried out once and answered the same, so
 * that any command may be repeated after an unknown outcome. Commands of one shipment are serialised, whatever replica
 * they reach.
 * All throw `DomainError` (`not_found` also for another scope's shipment), `Unavailable` when the outcome is unknown, and
 * `Busy` when nothing was done for want of room.
 */
export type ShipmentCommands = {
  readonly [Type in CommandType as Uncapitalize<Type>]: (
    command: SubmittedCommand<Type>,
  ) => Promise<Written<AnswerOf<Type>>>;
};

export interface ShipmentsService extends ShipmentCommands, ShipmentReads {}
