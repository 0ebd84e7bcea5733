import type { BodyOf, QueryOf } from '../api-types.ts';
import type { Api } from '../http/api.ts';
import type { PostOptions, ReadOptions, RequestOptions, WriteOptions } from '../options.ts';

export class ServiceAccounts {
  constructor(private readonly api: Api) {}

  create(account: BodyOf<'createServiceAccount'>, options?: PostOptions) {
    return this.api.call('createServiceAccount', { body: account }, options);
  }

  list(query: QueryOf<'listServiceAccounts'> = {}, options?: RequestOptions) {
    return this.api.list('listServiceAccounts', { query }, options);
  }

  get(id: string, options?: ReadOptions) {
    return this.api.call('getServiceAccount', { path: { id } }, options);
  }

  patch(id: string, changes: BodyOf<'changeServiceAccount'>, options?: WriteOptions) {
    return this.api.call('changeServiceAccount', { path: { id }, body: changes }, options);
  }

  deactivate(id: string, options?: PostOptions) {
    return this.api.call('deactivateServiceAccount', { path: { id } }, options);
  }

  reactivate(id: string, options?: PostOptions) {
    return this.api.call('reactivateServiceAccount', { path: { id } }, options);
  }
}
