import type { PipeTransform } from '@nestjs/common';
import { notFound } from '@tracking/http';
import { parseShipmentId } from '@tracking/shipments';

/** Which milestone a path names, and of which shipment. */
export interface MilestoneIds {
  readonly shipment_id: string;
  readonly milestone_id: string;
}

/** @throws RequestError `not_found` for what is no id of a shipment at all */
export const MILESTONE_IDS: PipeTransform<{ readonly id: string; readonly milestone_id: string }, MilestoneIds> = {
  transform({ id, milestone_id }) {
    const shipment_id = parseShipmentId(id);
    if (shipment_id === undefined) throw notFound('shipment');
    return { shipment_id, milestone_id };
  },
};
