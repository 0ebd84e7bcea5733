import type { PipeTransform } from '@nestjs/common';
import { notFound } from '@tracking/http';
import { shipmentIdOfPart } from '@tracking/shipments';

/** Which exception a path names, and of which shipment that is. */
export interface ExceptionIds {
  readonly shipment_id: string;
  readonly exception_id: string;
}

/** @throws RequestError `not_found` for what is no id of an exception at all */
export const EXCEPTION_IDS: PipeTransform<string, ExceptionIds> = {
  transform(exception_id) {
    const shipment_id = shipmentIdOfPart('exception', exception_id);
    if (shipment_id === undefined) throw notFound('exception');
    return { shipment_id, exception_id };
  },
};
