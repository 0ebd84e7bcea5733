import type { HttpDependencies } from '@tracking/http';
import type { Position } from '@tracking/ports';
import type { WebhookOperations } from '@tracking/webhooks';

/** Injection tokens of single fields of {@link WebhooksHttpDependencies}. */
export const WEBHOOKS_INJECTION_TOKEN = Symbol('webhooks');
export const LOG_HEAD_INJECTION_TOKEN = Symbol('head of the event store');

/** Dependencies of the webhook routes. */
export interface WebhooksHttpDependencies extends HttpDependencies {
  /** The webhooks feature, in this process or in the webhooks service. */
  readonly webhooks: Pick<WebhookOperations, 'endpoints' | 'deliveries' | 'replays' | 'deadLetters' | 'stats'>;
  /** Returns the head of the event store's log. @throws UnavailableError */
  readonly head: () => Promise<Position | undefined>;
}
