import type { HttpDependencies } from '@tracking/http';
import type { Position } from '@tracking/ports';
import type { WebhookOperations } from '@tracking/webhooks';

/** Injection tokens of single {@link WebhooksHttpDependencies}. */
export const WEBHOOKS = Symbol('webhooks');
export const HEAD = Symbol('head of the event store');

export interface WebhooksHttpDependencies extends HttpDependencies {
  readonly webhooks: Pick<WebhookOperations, 'endpoints' | 'deliveries' | 'replays' | 'deadLetters' | 'stats'>;
  /** The end of the event store's log. @throws Unavailable */
  readonly head: () => Promise<Position | undefined>;
}
