import type { BodyOf, QueryOf } from '../api-types.ts';
import type { Api } from '../http/api.ts';
import type { PostOptions, RequestOptions } from '../options.ts';

/** Deliveries that failed for good, many at once; `webhookDeliveries.list({ status: 'dead_lettered' })` lists them. */
export class WebhookDeadLetters {
  constructor(private readonly api: Api) {}

  /** How many, by reason, endpoint and event type. */
  summary(query: QueryOf<'summarizeWebhookDeadLetters'> = {}, options?: RequestOptions) {
    return this.api.call('summarizeWebhookDeadLetters', { query }, options);
  }

  /** Delivers them again: a replay for each endpoint. */
  replay(which: BodyOf<'replayWebhookDeadLetters'> = {}, options?: PostOptions) {
    return this.api.call('replayWebhookDeadLetters', { body: which }, options);
  }

  /** Gives them up. */
  discard(which: BodyOf<'discardWebhookDeadLetters'> = {}, options?: PostOptions) {
    return this.api.call('discardWebhookDeadLetters', { body: which }, options);
  }
}
