import { Inject, Injectable } from '@nestjs/common';
import type { Milestone, WorkspaceScope, Shipment, ShipmentRecord, Timestamp } from '@tracking/contracts';
import {
  createNotFoundError,
  ReadYourWrites,
  waitForResponseBudget,
  getRequestScope,
  SETTINGS_INJECTION_TOKEN,
} from '@tracking/http';
import type { ItemsAndNextPosition } from '@tracking/http';
import type { ReadModelName, MilestoneListQuery, ShipmentListQuery } from '@tracking/read-models';
import {
  type MilestoneWithShipmentVersion,
  type GetMilestoneRequest,
  parseShipmentId,
  toShipmentResource,
} from '@tracking/shipments';
import type { FastifyRequest } from 'fastify';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { READ_MODELS_INJECTION_TOKEN, SHIPMENTS_INJECTION_TOKEN } from '../dependencies.ts';

interface MilestonesQuery extends MilestoneListQuery {
  /** The time as of which milestones are listed; now if undefined. */
  readonly as_of?: Timestamp | undefined;
}

/**
 * Reads shipments and their milestones. The result includes the writes of the request's consistency token: if the read
 * models are behind, the shipment is read from its stream.
 */
@Injectable()
export class ShipmentReader {
  constructor(
    @Inject(SHIPMENTS_INJECTION_TOKEN) private readonly shipments: ShipmentsHttpDependencies['shipments'],
    @Inject(READ_MODELS_INJECTION_TOKEN) private readonly readModels: ShipmentsHttpDependencies['readModels'],
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites<ReadModelName>,
    @Inject(SETTINGS_INJECTION_TOKEN) private readonly settings: ShipmentsHttpDependencies['settings'],
  ) {}

  /** @throws RequestError `not_found`, also for a malformed id and for an id of another workspace or environment */
  async getShipment(request: FastifyRequest, shipmentId: string): Promise<ShipmentRecord> {
    const expected = this.readYourWrites.readRequiredReadPosition(request);
    const id = parseShipmentIdOrThrow(shipmentId);
    const scope = getRequestScope(request);
    // The position is read before the row. Otherwise the result could apply to a newer row than the one that was read.
    const current = await this.readYourWrites.waitUntilReadModelReachesPosition('shipments', expected);
    const row = await this.readModels.queries.shipments.getShipment(scope, id);
    if (row && (current || expected === undefined || row.position >= expected)) return row.record;
    return requireShipment(await this.shipments.getShipment({ ...scope, shipment_id: id })).record;
  }

  /**
   * Returns the shipment as it was at the given time.
   * @throws RequestError `not_found`, also if the shipment was created after that time
   */
  async getShipmentAtTime(request: FastifyRequest, shipmentId: string, as_of: Timestamp): Promise<ShipmentRecord> {
    this.readYourWrites.checkConsistencyToken(request);
    const shipment_id = parseShipmentIdOrThrow(shipmentId);
    return requireShipment(await this.shipments.getShipmentAt({ ...getRequestScope(request), shipment_id, as_of }));
  }

  /** @throws RequestError `read_model_behind` */
  async listShipments(request: FastifyRequest, query: ShipmentListQuery): Promise<ItemsAndNextPosition<Shipment>> {
    await this.readYourWrites.waitForReadModelOfList('shipments', request);
    await waitForResponseBudget(request);
    const { items, next } = await this.readModels.queries.shipments.listShipments(getRequestScope(request), query);
    return { items: items.map((record) => this.convertToShipmentResource(record)), next };
  }

  /** @throws RequestError `not_found`, `read_model_behind` */
  async listMilestones(
    request: FastifyRequest,
    shipmentId: string,
    { as_of, ...query }: MilestonesQuery,
  ): Promise<ItemsAndNextPosition<Milestone>> {
    if (as_of !== undefined) return this.listMilestonesAtTime(request, shipmentId, { ...query, as_of });
    const { id } = await this.getShipment(request, shipmentId);
    await this.readYourWrites.waitForReadModelOfList('milestones', request);
    await waitForResponseBudget(request);
    return this.readModels.queries.milestones.listMilestones(getRequestScope(request), id, query);
  }

  /** Reads the milestones from the stream, which includes all writes. @throws RequestError `not_found` */
  async getMilestone(
    request: FastifyRequest,
    ids: Omit<GetMilestoneRequest, keyof WorkspaceScope>,
  ): Promise<MilestoneWithShipmentVersion> {
    this.readYourWrites.checkConsistencyToken(request);
    const found = await this.shipments.getMilestone({ ...getRequestScope(request), ...ids });
    if (found === undefined) throw createNotFoundError('milestone');
    return found;
  }

  private async listMilestonesAtTime(
    request: FastifyRequest,
    shipmentId: string,
    query: MilestoneListQuery & { readonly as_of: Timestamp },
  ): Promise<ItemsAndNextPosition<Milestone>> {
    this.readYourWrites.checkConsistencyToken(request);
    const shipment_id = parseShipmentIdOrThrow(shipmentId);
    const after = query.after?.map((value) => (typeof value === 'number' ? value : String(value)));
    return requireShipment(
      await this.shipments.listMilestonesAt({ ...getRequestScope(request), shipment_id, ...query, after }),
    );
  }

  /** Returns the shipment in API format. */
  convertToShipmentResource(record: ShipmentRecord): Shipment {
    return toShipmentResource(record, this.settings.appUrl);
  }
}

/** Reads the id of a shipment. @throws RequestError `not_found` if the text is not a shipment id */
export function parseShipmentIdOrThrow(text: string): string {
  return requireShipment(parseShipmentId(text));
}

/** @throws RequestError `not_found` */
export function requireShipment<T>(found: T | undefined): T {
  if (!found) throw createNotFoundError('shipment');
  return found;
}
