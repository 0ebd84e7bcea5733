import type { BodyOf, QueryOf } from '../api-types.ts';
import type { Api } from '../http/api.ts';
import type { PostOptions, ReadOptions, RequestOptions } from '../options.ts';

export class Exceptions {
  constructor(private readonly api: Api) {}

  /** Of all shipments: `{ status: ['open', 'acknowledged'], sort: '-severity' }` is the work list. */
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
