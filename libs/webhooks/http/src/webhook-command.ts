import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { createCommandContext } from '@tracking/http';
import { convertToUnknownOutcomeError } from '@tracking/ports';
import type { WebhookCommand } from '@tracking/webhooks';
import type { FastifyRequest } from 'fastify';

/** Handler parameter decorator: the {@link WebhookCommand} of the request. */
export const InjectWebhookCommandOfRequest = createParamDecorator(
  (_data: unknown, context: ExecutionContext): WebhookCommand => {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { request_id, traceparent, actor: _actor, strict: _strict, ...command } = createCommandContext(request);
    const origin = { request_id, ...(traceparent !== null && { traceparent }) };
    return { ...command, origin };
  },
);

/**
 * Reports an unknown outcome if a change that is not `@Audited` fails. The audit trail does the same for audited
 * changes. A webhook change has several steps, so an error that proves that the last step did nothing says nothing
 * about earlier steps.
 * @throws the error, or `UnavailableError` in place of such an error
 */
export function rethrowWithUnknownOutcome(error: unknown): never {
  throw convertToUnknownOutcomeError(error);
}
