import type { ApiCaller, BodyOf, QueryOf } from './api.ts';
import type { PostOptions, ReadOptions, RequestOptions, UpsertOptions, WriteOptions } from './call.ts';

export class Shipments {
  constructor(private readonly api: ApiCaller) {}

  /**
   * Creates a shipment, or changes the given fields of the shipment with this `external_id`. A request without
   * `external_id` always creates a shipment.
   */
  upsert(shipment: BodyOf<'upsertShipment'>, options?: UpsertOptions) {
    return this.api.call('upsertShipment', { body: shipment }, options);
  }

  /** Upserts up to 500 shipments. Each shipment has its own result, and the request is not atomic. */
  upsertMany(shipments: BodyOf<'upsertShipments'>['shipments'], options?: Omit<PostOptions, 'ifMatch'>) {
    return this.api.call('upsertShipments', { body: { shipments } }, options);
  }

  list(query: QueryOf<'listShipments'> = {}, options?: RequestOptions) {
    return this.api.list('listShipments', { query }, options);
  }

  get(id: string, options?: ReadOptions & { /** As it was known then. */ readonly as_of?: string }) {
    const { as_of, ...rest } = options ?? {};
    return this.api.call('getShipment', { path: { id }, ...(as_of !== undefined && { query: { as_of } }) }, rest);
  }

  /** Applies a JSON merge patch: omitted fields stay unchanged, and null clears a field. */
  patch(id: string, changes: BodyOf<'changeShipment'>, options?: WriteOptions) {
    return this.api.call('changeShipment', { path: { id }, body: changes }, options);
  }

  patchContainer(id: string, number: string, changes: BodyOf<'changeContainer'>, options?: WriteOptions) {
    return this.api.call('changeContainer', { path: { id, number }, body: changes }, options);
  }

  cancel(id: string, options?: PostOptions) {
    return this.api.call('cancelShipment', { path: { id } }, options);
  }

  reopen(id: string, options?: PostOptions) {
    return this.api.call('reopenShipment', { path: { id } }, options);
  }

  /** Lists the changes of a shipment, with their authors and times. */
  history(id: string, query: QueryOf<'listShipmentHistory'> = {}, options?: RequestOptions) {
    return this.api.list('listShipmentHistory', { path: { id }, query }, options);
  }

  /** Lists all estimates of a shipment's arrival, with their sources. */
  etaHistory(id: string, query: QueryOf<'listEtaHistory'> = {}, options?: RequestOptions) {
    return this.api.list('listEtaHistory', { path: { id }, query }, options);
  }

  /** Explains the status, times and exceptions of a shipment. */
  explain(id: string, options?: ReadOptions) {
    return this.api.call('explainShipment', { path: { id } }, options);
  }
}

export class Milestones {
  constructor(private readonly api: ApiCaller) {}

  list(shipmentId: string, query: QueryOf<'listMilestones'> = {}, options?: RequestOptions) {
    return this.api.list('listMilestones', { path: { id: shipmentId }, query }, options);
  }

  record(shipmentId: string, milestone: BodyOf<'recordMilestone'>, options?: PostOptions) {
    return this.api.call('recordMilestone', { path: { id: shipmentId }, body: milestone }, options);
  }

  /**
   * Records up to 500 milestones of shipments, which any reference can identify. Each milestone has its own result, and
   * the request is not atomic.
   */
  recordMany(milestones: BodyOf<'recordMilestones'>['milestones'], options?: Omit<PostOptions, 'ifMatch'>) {
    return this.api.call('recordMilestones', { body: { milestones } }, options);
  }

  get(shipmentId: string, milestoneId: string, options?: ReadOptions) {
    return this.api.call('getMilestone', { path: { id: shipmentId, milestone_id: milestoneId } }, options);
  }

  correct(shipmentId: string, milestoneId: string, changes: BodyOf<'correctMilestone'>, options?: WriteOptions) {
    const path = { id: shipmentId, milestone_id: milestoneId };
    return this.api.call('correctMilestone', { path, body: changes }, options);
  }

  /** Retracts a milestone. It remains on the timeline and has no effect. */
  retract(shipmentId: string, milestoneId: string, options?: WriteOptions) {
    return this.api.call('retractMilestone', { path: { id: shipmentId, milestone_id: milestoneId } }, options);
  }

  /** Returns the whole catalog of milestone codes. */
  codes(options?: RequestOptions) {
    return this.api.call('listMilestoneCodes', {}, options);
  }
}

export class Exceptions {
  constructor(private readonly api: ApiCaller) {}

  /**
   * Lists exceptions of all shipments. `{ status: ['open', 'acknowledged'], sort: '-severity' }` selects the work list.
   */
  list(query: QueryOf<'listExceptions'> = {}, options?: RequestOptions) {
    return this.api.list('listExceptions', { query }, options);
  }

  listOf(shipmentId: string, query: QueryOf<'listShipmentExceptions'> = {}, options?: RequestOptions) {
    return this.api.list('listShipmentExceptions', { path: { id: shipmentId }, query }, options);
  }

  open(shipmentId: string, exception: BodyOf<'openException'>, options?: PostOptions) {
    return this.api.call('openException', { path: { id: shipmentId }, body: exception }, options);
  }

  get(id: string, options?: ReadOptions) {
    return this.api.call('getException', { path: { id } }, options);
  }

  acknowledge(id: string, words: BodyOf<'acknowledgeException'> = {}, options?: PostOptions) {
    return this.api.call('acknowledgeException', { path: { id }, body: words }, options);
  }

  resolve(id: string, words: BodyOf<'resolveException'>, options?: PostOptions) {
    return this.api.call('resolveException', { path: { id }, body: words }, options);
  }
}

/** Search for ports and airports. */
export class Places {
  constructor(private readonly api: ApiCaller) {}

  /** Finds places by words of their names or by codes. */
  find(query: QueryOf<'listPlaces'> = {}, options?: RequestOptions) {
    return this.api.call('listPlaces', { query }, options);
  }
}
