import type { QueryOf } from '../api-types.ts';
import type { Api } from '../http/api.ts';
import type { PostOptions, ReadOptions, RequestOptions } from '../options.ts';

export class WebhookDeliveries {
  constructor(private readonly api: Api) {}

  list(query: QueryOf<'listWebhookDeliveries'> = {}, options?: RequestOptions) {
    return this.api.list('listWebhookDeliveries', { query }, options);
  }

  /** With its payload and attempts. */
  get(id: string, options?: ReadOptions) {
    return this.api.call('getWebhookDelivery', { path: { id } }, options);
  }

  /** Attempts it once more, as soon as possible. */
  retry(id: string, options?: PostOptions) {
    return this.api.call('retryWebhookDelivery', { path: { id } }, options);
  }

  discard(id: string, options?: PostOptions) {
    return this.api.call('discardWebhookDelivery', { path: { id } }, options);
  }
}
