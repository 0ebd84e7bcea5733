import type { PipeTransform } from '@nestjs/common';
import { notFound } from '@tracking/http';
import { shipmentIdOfPart } from '@tracking/shipments';

/** Which document a path names, and of which shipment that is. */
export interface DocumentIds {
  readonly shipment_id: string;
  readonly document_id: string;
}

/** @throws RequestError `not_found` for what is no id of a document at all */
export const DOCUMENT_IDS: PipeTransform<string, DocumentIds> = {
  transform(document_id) {
    const shipment_id = shipmentIdOfPart('document', document_id);
    if (shipment_id === undefined) throw notFound('document');
    return { shipment_id, document_id };
  },
};
