import type { BodyOf, QueryOf } from '../api-types.ts';
import type { Api } from '../http/api.ts';
import type { PostOptions, ReadOptions, RequestOptions } from '../options.ts';

export class Keys {
  constructor(private readonly api: Api) {}

  /** Of one's own, or of a service account. The answer holds the `key`, and no other one does. */
  create(key: BodyOf<'createApiKey'>, options?: PostOptions) {
    return this.api.call('createApiKey', { body: key }, options);
  }

  list(query: QueryOf<'listApiKeys'> = {}, options?: RequestOptions) {
    return this.api.list('listApiKeys', { query }, options);
  }

  get(id: string, options?: ReadOptions) {
    return this.api.call('getApiKey', { path: { id } }, options);
  }

  /** Makes its successor; the old one is valid for as long as the grace says. */
  rotate(id: string, rotation: BodyOf<'rotateApiKey'> = {}, options?: PostOptions) {
    return this.api.call('rotateApiKey', { path: { id }, body: rotation }, options);
  }

  revoke(id: string, options?: PostOptions) {
    return this.api.call('revokeApiKey', { path: { id } }, options);
  }
}
