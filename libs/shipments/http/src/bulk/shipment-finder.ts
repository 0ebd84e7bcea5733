import { DomainError } from '@tracking/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { notFound, ReadYourWrites, scopeOf } from '@tracking/http';
import type { ShipmentReferences } from '@tracking/read-models';
import type { FastifyRequest } from 'fastify';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { READ_MODELS } from '../dependencies.ts';

/** What names a shipment: its id, or a reference of it, normalised. */
export interface ShipmentReference {
  readonly field: 'shipment_id' | ShipmentReferences['field'];
  readonly value: string;
}

/** The ids of the shipments that were asked for. */
export interface ReferredShipments {
  /** @throws RequestError `not_found`; DomainError `ambiguous_shipment` */
  idOf(reference: ShipmentReference): string;
}

/** Finds shipments by what names them, each name once however often it is given. */
@Injectable()
export class ShipmentFinder {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ShipmentsHttpDependencies['readModels'],
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
  ) {}

  /** Never older than what the request expects: also what the same key wrote just before is found. @throws RequestError `read_model_behind` */
  async find(request: FastifyRequest, references: readonly ShipmentReference[]): Promise<ReferredShipments> {
    const values = new Map<ShipmentReferences['field'], Set<string>>();
    for (const { field, value } of references) {
      if (field !== 'shipment_id') values.set(field, (values.get(field) ?? new Set()).add(value));
    }
    if (values.size > 0) await this.readYourWrites.waitFor('shipments', request);
    const found = new Map<string, ReadonlyMap<string, readonly string[]>>();
    for (const [field, those] of values) {
      const { shipments } = this.readModels.queries;
      found.set(field, await shipments.idsByReference(scopeOf(request), { field, values: [...those] }, 2));
    }
    return {
      idOf: ({ field, value }) =>
        field === 'shipment_id' ? value : onlyOne(field, found.get(field)?.get(value) ?? []),
    };
  }
}

function onlyOne(field: string, ids: readonly string[]): string {
  const [id] = ids;
  if (id === undefined) throw notFound('shipment');
  if (ids.length > 1) {
    const message = `Several shipments have this ${field}, ${ids.join(' and ')} among them: name one by shipment_id.`;
    throw new DomainError('ambiguous_shipment', message);
  }
  return id;
}
