import { Inject, Injectable } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import type { Places } from '@tracking/contracts';
import { PLACES } from '../dependencies.ts';
import type { ListShipmentsDto } from './list-shipments.dto.ts';
import { shipmentListing } from './shipment-filter.ts';
import type { ShipmentListing } from './shipment-filter.ts';

@Injectable()
export class ShipmentFilterPipe implements PipeTransform<ListShipmentsDto, ShipmentListing> {
  constructor(@Inject(PLACES) private readonly places: Places) {}

  transform(query: ListShipmentsDto): ShipmentListing {
    return shipmentListing(query, this.places);
  }
}
