import { Inject, Injectable } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import type { Places } from '@tracking/contracts';
import type { Sent } from '@tracking/http';
import { PLACES } from '../dependencies.ts';
import { readShipmentFields, readShipmentPatch } from './read-shipment-fields.ts';
import type { ReadShipmentFields, ReadShipmentPatch } from './read-shipment-fields.ts';

@Injectable()
export class ShipmentFieldsPipe implements PipeTransform<Sent, ReadShipmentFields> {
  constructor(@Inject(PLACES) private readonly places: Places) {}

  transform({ body, strict }: Sent): ReadShipmentFields {
    return readShipmentFields(body, strict, this.places);
  }
}

@Injectable()
export class ShipmentPatchPipe implements PipeTransform<Sent, ReadShipmentPatch> {
  constructor(@Inject(PLACES) private readonly places: Places) {}

  transform({ body, strict }: Sent): ReadShipmentPatch {
    return readShipmentPatch(body, strict, this.places);
  }
}
