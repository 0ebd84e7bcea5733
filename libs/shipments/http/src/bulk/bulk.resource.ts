import { ApiSchema } from '@nestjs/swagger';
import type * as wire from '@tracking/contracts';
import { ErrorDetailResource, Shown, ShownWarnings } from '@tracking/http';
import { MilestoneWrittenResource } from '../milestones/milestone.resource.ts';
import { ShipmentWrittenResource } from '../shipments/shipment.resource.ts';

class BulkItemResource {
  @Shown('integer', 'Place of the item in the request, from 0.')
  readonly index!: number;
  @Shown('integer', 'The status that the single call answers.', { example: 201 })
  readonly status!: number;
  @Shown(ErrorDetailResource, 'Of an item that was refused.', { required: false })
  readonly error?: wire.ErrorBody['error'];
}

@ApiSchema({ name: 'BulkShipmentItem' })
export class BulkShipmentItemResource extends BulkItemResource {
  @Shown(ShipmentWrittenResource, 'Of an item that was carried out.', { required: false })
  readonly shipment?: ShipmentWrittenResource;
}

@ApiSchema({ name: 'BulkShipmentsWritten' })
export class BulkShipmentsWrittenResource {
  @Shown([BulkShipmentItemResource], 'An answer for each item, in their order.')
  readonly data!: BulkShipmentItemResource[];
  @ShownWarnings()
  readonly warnings!: wire.Warning[];
}

@ApiSchema({ name: 'BulkMilestoneItem' })
export class BulkMilestoneItemResource extends BulkItemResource {
  @Shown(MilestoneWrittenResource, 'Of an item that was carried out.', { required: false })
  readonly milestone?: MilestoneWrittenResource;
}

@ApiSchema({ name: 'BulkMilestonesWritten' })
export class BulkMilestonesWrittenResource {
  @Shown([BulkMilestoneItemResource], 'An answer for each item, in their order.')
  readonly data!: BulkMilestoneItemResource[];
  @ShownWarnings()
  readonly warnings!: wire.Warning[];
}
