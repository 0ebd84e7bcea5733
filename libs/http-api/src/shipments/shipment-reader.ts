import { Inject, Injectable } from '@nestjs/common';
import type { ShipmentRecord } from '@tracking/contracts';
import { parseShipmentId } from '@tracking/shipments';
import type { FastifyRequest } from 'fastify';
import { DEPENDENCIES } from '../dependencies.ts';
import type { HttpApiDependencies } from '../dependencies.ts';
import { notFound } from '../errors/request-error.ts';
import { ReadYourWrites } from '../read-your-writes/read-your-writes.ts';
import { scopeOf } from '../server/request.ts';

/** A shipment by its id, never older than what the request expects: from the read model, or else from its stream. */
@Injectable()
export class ShipmentReader {
  constructor(
    @Inject(DEPENDENCIES) private readonly dependencies: HttpApiDependencies,
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
  ) {}

  /** @throws RequestError `not_found`, also for ids of another workspace or environment and for what is no id at all */
  async get(request: FastifyRequest, shipmentId: string): Promise<ShipmentRecord> {
    const expected = this.readYourWrites.expected(request);
    const id = parseShipmentId(shipmentId);
    if (id === undefined) throw notFound('shipment');
    const scope = scopeOf(request);
    // Asked before the row is read: afterwards it could be true of a row that was replaced meanwhile.
    const current = await this.readYourWrites.shown('shipments', expected);
    const row = await this.dependencies.readModels.queries.shipments.get(scope, id);
    if (row && (current || expected === undefined || row.position >= expected)) return row.record;
    const stored = await this.dependencies.shipments.getShipment({ ...scope, shipment_id: id });
    if (!stored) throw notFound('shipment');
    return stored.record;
  }
}
