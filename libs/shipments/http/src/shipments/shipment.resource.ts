import { ApiSchema } from '@nestjs/swagger';
import { LOAD_TYPES, MILESTONE_CODES, MODES, SHIPMENT_STATUSES } from '@tracking/contracts';
import type * as wire from '@tracking/contracts';
import { Shown, ShownTime, ShownWarnings } from '@tracking/http';
import { ReferenceDto } from './upsert-shipment.dto.ts';

@ApiSchema({ name: 'Party' })
export class PartyResource implements wire.Party {
  @Shown(String, 'Name of the party.', { nullable: true })
  readonly name!: string | null;
  @Shown(String, 'The client’s reference of the party.', { nullable: true })
  readonly external_id!: string | null;
}

@ApiSchema({ name: 'LastMilestone' })
export class LastMilestoneResource implements wire.LastMilestone {
  @Shown(String, 'Id of the milestone.')
  readonly id!: string;
  @Shown(String, 'Code of the catalog.', { enum: [...MILESTONE_CODES] })
  readonly code!: string;
  @Shown(String, 'The code for people.')
  readonly label!: string;
  @ShownTime('When it happened.')
  readonly occurred_at!: string;
  @Shown(String, 'Where it happened.', { nullable: true })
  readonly location!: string | null;
}

/** How goods go from one place to another: in all, and on one leg. */
class JourneyResource {
  @Shown(String, 'Carrier code.', { nullable: true })
  readonly carrier_scac!: string | null;
  @Shown(String, 'Port code.', { nullable: true })
  readonly origin_port!: string | null;
  @Shown(String, 'Port code.', { nullable: true })
  readonly destination_port!: string | null;
  @ShownTime('Estimated departure.', { nullable: true })
  readonly etd!: string | null;
  @ShownTime('Estimated arrival.', { nullable: true })
  readonly eta!: string | null;
  @ShownTime('Actual departure.', { nullable: true })
  readonly atd!: string | null;
  @ShownTime('Actual arrival.', { nullable: true })
  readonly ata!: string | null;
}

@ApiSchema({ name: 'Leg' })
export class LegResource extends JourneyResource implements wire.Leg {
  @Shown(String, 'Transport mode.', { nullable: true, enum: [...MODES] })
  readonly mode!: wire.Mode | null;
  @Shown(String, 'Name of the vessel.', { nullable: true })
  readonly vessel!: string | null;
  @Shown(String, 'Voyage, flight, train or trip number.', { nullable: true })
  readonly voyage!: string | null;
}

@ApiSchema({ name: 'Container' })
export class ContainerResource implements wire.Container {
  @Shown(String, 'Normalised number.')
  readonly number!: string;
  @Shown(Boolean, 'Whether the check digit is right; null where the kind has none.', { nullable: true })
  readonly valid_check_digit!: boolean | null;
  @Shown(String, 'ISO 6346 size and type.', { nullable: true })
  readonly size_type!: string | null;
  @Shown(String, 'Seal.', { nullable: true })
  readonly seal_number!: string | null;
  @Shown(String, 'Status of this container.', { enum: [...SHIPMENT_STATUSES] })
  readonly status!: wire.ShipmentStatus;
  @Shown(String, 'The milestone that set the status.', { nullable: true })
  readonly status_milestone_id!: string | null;
  @Shown(LastMilestoneResource, 'Its latest actual milestone.', { nullable: true })
  readonly last_milestone!: LastMilestoneResource | null;
  @ShownTime('Discharged.', { nullable: true })
  readonly discharged_at!: string | null;
  @ShownTime('Available for pickup.', { nullable: true })
  readonly available_at!: string | null;
  @ShownTime('Gated out.', { nullable: true })
  readonly gated_out_at!: string | null;
  @ShownTime('Delivered.', { nullable: true })
  readonly delivered_at!: string | null;
  @ShownTime('Returned empty.', { nullable: true })
  readonly empty_returned_at!: string | null;
  @Shown(String, 'Last day without demurrage, a date local to the place.', { nullable: true, format: 'date' })
  readonly last_free_day!: string | null;
  @Shown(String, 'Day by which it must be back empty, local to the place.', { nullable: true, format: 'date' })
  readonly empty_return_by!: string | null;
}

@ApiSchema({ name: 'ContainerWritten' })
export class ContainerWrittenResource extends ContainerResource {
  @ShownWarnings()
  readonly warnings!: wire.Warning[];
}

/** Every field is always present: null or an empty array where there is nothing. */
@ApiSchema({ name: 'Shipment' })
export class ShipmentResource extends JourneyResource implements wire.Shipment {
  @Shown(String, 'Service-assigned identifier.', { example: 'shp_4h2k7qv3n5xw6yz2aabbccddee' })
  readonly id!: string;
  @Shown(String, 'The client’s own reference.', { nullable: true })
  readonly external_id!: string | null;
  @Shown(String, 'Derived from the milestones, whatever order they come in.', { enum: [...SHIPMENT_STATUSES] })
  readonly status!: wire.ShipmentStatus;
  @Shown(String, 'The milestone that set the status; null when pending or cancelled by the client.', { nullable: true })
  readonly status_milestone_id!: string | null;
  @Shown(String, 'Transport mode.', { nullable: true, enum: [...MODES] })
  readonly mode!: wire.Mode | null;
  @Shown(String, 'How the cargo is loaded.', { nullable: true, enum: [...LOAD_TYPES] })
  readonly load_type!: wire.LoadType | null;
  @Shown(String, 'House bill reference.', { nullable: true })
  readonly house_bill!: string | null;
  @Shown(String, 'Master bill or air waybill.', { nullable: true })
  readonly master_bill!: string | null;
  @Shown(String, 'Booking number.', { nullable: true })
  readonly booking_number!: string | null;
  @Shown([String], 'Normalised container numbers.')
  readonly container_numbers!: string[];
  @Shown([ContainerResource], 'The containers with what is known of each.')
  readonly containers!: ContainerResource[];
  @ShownTime('The first estimated arrival known.', { nullable: true })
  readonly original_eta!: string | null;
  @Shown(PartyResource, 'Who ships.', { nullable: true })
  readonly shipper!: PartyResource | null;
  @Shown(PartyResource, 'Who receives.', { nullable: true })
  readonly consignee!: PartyResource | null;
  @Shown([ReferenceDto], 'Further references.')
  readonly references!: ReferenceDto[];
  @Shown('object', 'The client’s own strings by name.', { nullable: true, additionalProperties: { type: 'string' } })
  readonly metadata!: Record<string, string> | null;
  @Shown([LegResource], 'The legs in order.')
  readonly legs!: LegResource[];
  @Shown(LastMilestoneResource, 'The latest actual milestone.', { nullable: true })
  readonly last_milestone!: LastMilestoneResource | null;
  @Shown('integer', 'Exceptions that are not resolved.')
  readonly open_exceptions_count!: number;
  @Shown('integer', 'Documents that are uploaded, approved or rejected.')
  readonly documents_count!: number;
  @ShownTime('When it was created.')
  readonly created_at!: string;
  @ShownTime('When anything about it last changed.')
  readonly updated_at!: string;
  @Shown('integer', 'Grows with every change.')
  readonly version!: number;
  @Shown(String, 'The shipment in the web application.', { format: 'uri' })
  readonly url!: string;
}

@ApiSchema({ name: 'ShipmentWritten' })
export class ShipmentWrittenResource extends ShipmentResource {
  @ShownWarnings()
  readonly warnings!: wire.Warning[];
}

@ApiSchema({ name: 'ShipmentPage' })
export class ShipmentPageResource implements wire.Page<wire.Shipment> {
  @Shown([ShipmentResource], 'The shipments of this page.')
  readonly data!: ShipmentResource[];
  @Shown(String, 'Send it as `cursor` for the next page, with the same filters.', { nullable: true })
  readonly next_cursor!: string | null;
  @Shown(Boolean, 'Whether there is a next page.')
  readonly has_more!: boolean;
}
