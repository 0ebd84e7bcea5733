import type { PipeTransform } from '@nestjs/common';
import { notFound } from '@tracking/http';
import { parseShipmentId } from '@tracking/shipments';

/** The id of a shipment in a path. @throws RequestError `not_found` for what is no id at all */
export const SHIPMENT_ID: PipeTransform<string, string> = {
  transform(text) {
    const id = parseShipmentId(text);
    if (id === undefined) throw notFound('shipment');
    return id;
  },
};
