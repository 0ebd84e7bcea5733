import type { BodyOf, QueryOf } from '../api-types.ts';
import type { Api } from '../http/api.ts';
import type { PostOptions, ReadOptions, RequestOptions, WriteOptions } from '../options.ts';

export class WebhookEndpoints {
  constructor(private readonly api: Api) {}

  /** The answer holds the signing `secret`, which no read does. */
  create(endpoint: BodyOf<'createWebhookEndpoint'>, options?: PostOptions) {
    return this.api.call('createWebhookEndpoint', { body: endpoint }, options);
  }

  list(query: QueryOf<'listWebhookEndpoints'> = {}, options?: RequestOptions) {
    return this.api.list('listWebhookEndpoints', { query }, options);
  }

  get(id: string, options?: ReadOptions) {
    return this.api.call('getWebhookEndpoint', { path: { id } }, options);
  }

  /** What became of what was sent there, hour by hour: of the last day by default. */
  stats(id: string, query: QueryOf<'getWebhookEndpointStats'> = {}, options?: RequestOptions) {
    return this.api.call('getWebhookEndpointStats', { path: { id }, query }, options);
  }

  patch(id: string, changes: BodyOf<'changeWebhookEndpoint'>, options?: WriteOptions) {
    return this.api.call('changeWebhookEndpoint', { path: { id }, body: changes }, options);
  }

  /** What is pending for it is discarded. */
  delete(id: string, options?: WriteOptions) {
    return this.api.call('deleteWebhookEndpoint', { path: { id }, gone: { id, deleted: true, warnings: [] } }, options);
  }

  /** Sends it the challenge; `last_verification` tells how it answered. */
  verify(id: string, options?: PostOptions) {
    return this.api.call('verifyWebhookEndpoint', { path: { id } }, options);
  }

  /** Lets live events through. */
  enable(id: string, options?: PostOptions) {
    return this.api.call('enableWebhookEndpoint', { path: { id } }, options);
  }

  disable(id: string, options?: PostOptions) {
    return this.api.call('disableWebhookEndpoint', { path: { id } }, options);
  }

  /** Answers a new `secret`; the old one signs beside it for `expires_in_seconds`, a day unless told. */
  rotateSecret(id: string, rotation: BodyOf<'rotateWebhookSecret'> = {}, options?: PostOptions) {
    return this.api.call('rotateWebhookSecret', { path: { id }, body: rotation }, options);
  }

  /** The secrets that are valid now, for admins; each time is in the audit log. */
  revealSecret(id: string, options?: PostOptions) {
    return this.api.call('revealWebhookSecret', { path: { id } }, options);
  }

  /** Sends it an invented event of the type. */
  test(id: string, type: BodyOf<'testWebhookEndpoint'>['type'], options?: PostOptions) {
    return this.api.call('testWebhookEndpoint', { path: { id }, body: { type } }, options);
  }
}
