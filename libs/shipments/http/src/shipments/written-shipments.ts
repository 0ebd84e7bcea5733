import { Inject, Injectable } from '@nestjs/common';
import type { Milestone, Shipment, ShipmentException, ShipmentRecord, Warning } from '@tracking/contracts';
import type { WrittenResource } from '@tracking/http';
import type { Written } from '@tracking/shipments';
import type { FastifyRequest } from 'fastify';
import { PossibleDuplicates } from './possible-duplicates.ts';
import { ShipmentReader } from './shipment-reader.ts';

type WrittenShipment = Written<{ readonly shipment: ShipmentRecord; readonly warnings: readonly Warning[] }>;
/** A write of a part of a shipment, whose `ETag` is the shipment's. */
type WrittenPart<Part> = Written<Part & { readonly shipment_version: number; readonly warnings: readonly Warning[] }>;

/** Responses to writes of shipments. */
@Injectable()
export class WrittenShipments {
  constructor(
    @Inject(ShipmentReader) private readonly reader: ShipmentReader,
    @Inject(PossibleDuplicates) private readonly duplicates: PossibleDuplicates,
  ) {}

  of({ answer: { shipment, warnings }, position }: WrittenShipment): WrittenResource<Shipment> {
    const about = { shipment_id: shipment.id };
    return { body: this.reader.resource(shipment), position, version: shipment.version, warnings, about };
  }

  /** For a write that leaves the shipment open: warns of other shipments with its house bill or one of its containers. */
  async ofOpen(request: FastifyRequest, written: WrittenShipment): Promise<WrittenResource<Shipment>> {
    const { answer, position } = written;
    const duplicates = await this.duplicates.warningsOfWrite(request, answer.shipment, position);
    return { ...this.of(written), warnings: [...answer.warnings, ...duplicates] };
  }

  /** For one item of a bulk request. `later` looks for other shipments once all items are written. */
  ofItem(
    request: FastifyRequest,
    { answer: { shipment, warnings }, position }: WrittenShipment,
    ignored: readonly Warning[],
  ) {
    this.duplicates.remember(request, shipment);
    return {
      resource: this.reader.resource(shipment),
      warnings: [...ignored, ...warnings],
      position,
      later: () => this.duplicates.warnings(request, shipment),
    };
  }
}

/** The response to a write of a milestone. */
export function writtenMilestone({
  answer: { milestone, shipment_version, warnings },
  position,
}: WrittenPart<{ readonly milestone: Milestone }>): WrittenResource<Milestone> {
  const about = { shipment_id: milestone.shipment_id, milestone_id: milestone.id };
  return { body: milestone, position, version: shipment_version, warnings, about };
}

/** The response to a write of an exception. */
export function writtenException({
  answer: { exception, shipment_version, warnings },
  position,
}: WrittenPart<{ readonly exception: ShipmentException }>): WrittenResource<ShipmentException> {
  const about = { shipment_id: exception.shipment_id, exception_id: exception.id };
  return { body: exception, position, version: shipment_version, warnings, about };
}
