import type { PipeTransform } from '@nestjs/common';
import { parseShipmentId } from '@tracking/shipments';
import { notFound } from '../errors/request-error.ts';

/** The id of a shipment in a path. @throws RequestError `not_found` for what is no id at all */
export const SHIPMENT_ID: PipeTransform<string, string> = {
  transform(text) {
    const id = parseShipmentId(text);
    if (id === undefined) throw notFound('shipment');
    return id;
  },
};
