import type { Clock } from '@tracking/ports';
import type { WebhookCommand } from '@tracking/webhooks';
import type { FastifyRequest } from 'fastify';
import type { HttpApiDependencies } from '../dependencies.ts';
import { commandContext } from '../server/request.ts';

/** Under which {@link WebhooksService} is injected. */
export const WEBHOOKS = Symbol('WebhooksService');
export type WebhooksService = HttpApiDependencies['webhooks'];

/** What every command to webhooks carries, made once per request. */
export function webhookCommand(request: FastifyRequest, clock: Clock): WebhookCommand {
  const { id, at, workspace_id, environment } = commandContext(request, clock);
  return { id, at, workspace_id, environment };
}
