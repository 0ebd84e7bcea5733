import type { BodyOf, QueryOf } from '../api-types.ts';
import type { Api } from '../http/api.ts';
import type { PostOptions, ReadOptions, RequestOptions, UpsertOptions, WriteOptions } from '../options.ts';

export class Shipments {
  constructor(private readonly api: Api) {}

  /** Creates the shipment of an `external_id`, or changes what is sent of it; without one it is a new shipment. */
  upsert(shipment: BodyOf<'upsertShipment'>, options?: UpsertOptions) {
    return this.api.call('upsertShipment', { body: shipment }, options);
  }

  /** Up to 500 at once, each answered as `upsert` would. Not atomic. */
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

  /** JSON merge patch: what is left out stays, null clears. */
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

  /** Who changed what, and when. */
  history(id: string, query: QueryOf<'listShipmentHistory'> = {}, options?: RequestOptions) {
    return this.api.list('listShipmentHistory', { path: { id }, query }, options);
  }

  /** Every estimate of the arrival, and where it came from. */
  etaHistory(id: string, query: QueryOf<'listEtaHistory'> = {}, options?: RequestOptions) {
    return this.api.list('listEtaHistory', { path: { id }, query }, options);
  }

  /** Why status, times and exceptions are what they are. */
  explain(id: string, options?: ReadOptions) {
    return this.api.call('explainShipment', { path: { id } }, options);
  }
}
