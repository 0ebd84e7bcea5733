import type { BodyOf, QueryOf } from '../api-types.ts';
import type { Api } from '../http/api.ts';
import type { PostOptions, ReadOptions, RequestOptions } from '../options.ts';

export class WebhookReplays {
  constructor(private readonly api: Api) {}

  /** Sends an endpoint again what failed or was missed; `get` tells how far it is. */
  create(endpointId: string, filter: BodyOf<'createWebhookReplay'> = {}, options?: PostOptions) {
    return this.api.call('createWebhookReplay', { path: { id: endpointId }, body: filter }, options);
  }

  list(query: QueryOf<'listWebhookReplays'> = {}, options?: RequestOptions) {
    return this.api.list('listWebhookReplays', { query }, options);
  }

  get(id: string, options?: ReadOptions) {
    return this.api.call('getWebhookReplay', { path: { id } }, options);
  }

  /** No more is begun; what was begun goes on. */
  cancel(id: string, options?: PostOptions) {
    return this.api.call('cancelWebhookReplay', { path: { id } }, options);
  }

  /** Goes on where it was canceled. */
  resume(id: string, options?: PostOptions) {
    return this.api.call('resumeWebhookReplay', { path: { id } }, options);
  }
}
