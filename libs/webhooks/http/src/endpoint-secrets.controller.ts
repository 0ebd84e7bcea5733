import { Controller, HttpCode, Inject, Param, Post, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Warning } from '@tracking/contracts';
import { Audited, NO_BODY, Operation, SentBody, refusal, WriteResponder } from '@tracking/http';
import type { ReadBody, WriteResponse } from '@tracking/http';
import type { NewWebhookEndpoint, RevealedSecret, WebhookCommand } from '@tracking/webhooks';
import type { FastifyReply } from 'fastify';
import type { WebhooksHttpDependencies } from './dependencies.ts';
import { EndpointSecretsResource, ROTATION, RotateSecretDto } from './endpoint-secrets.resource.ts';
import { EndpointCreatedResource } from './endpoint.resource.ts';
import { WebhookCommandOf, asUnknownOutcome } from './webhook-command.ts';
import { WEBHOOKS } from './dependencies.ts';

const Unknown = () => refusal(404, 'No such endpoint in this workspace and environment.');

/** Both tell the audit log nothing but that they were done: the secret is no field of what it shows. */
@ApiTags('Webhook endpoints')
@Controller('v1/webhook_endpoints')
export class EndpointSecretsController {
  constructor(
    @Inject(WEBHOOKS) private readonly webhooks: WebhooksHttpDependencies['webhooks'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
  ) {}

  @Post(':id/rotate_secret')
  @HttpCode(200)
  @Operation('rotateWebhookSecret', {
    summary: 'Make a new signing secret; the old one stays valid for a while',
    description: 'Until then every request is signed with both. Of secrets that are valid there are at most five.',
    body: RotateSecretDto,
    bodyMayBeOmitted: true,
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The endpoint, with the new secret.', type: EndpointCreatedResource })
  @Unknown()
  @Audited('webhook_endpoint.secret_rotated')
  async rotate(
    @Param('id') endpoint_id: string,
    @SentBody(ROTATION) { value: { expires_in_seconds }, warnings }: ReadBody<RotateSecretDto>,
    @WebhookCommandOf() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<NewWebhookEndpoint>> {
    const overlap = typeof expires_in_seconds === 'number' ? { expires_in_seconds } : {};
    const rotation = { ...command, endpoint_id, ...overlap };
    const body = await this.webhooks.endpoints.rotateSecret(rotation).catch(asUnknownOutcome);
    return this.responder.respond(reply, warnings, { body, version: body.version });
  }

  @Post(':id/reveal_secret')
  @HttpCode(200)
  @Operation('revealWebhookSecret', {
    summary: 'Show the signing secrets that are valid now',
    description: 'Each time is an entry of the audit log.',
  })
  @ApiResponse({ status: 200, description: 'The secrets.', type: EndpointSecretsResource })
  @Unknown()
  @refusal(409, 'They were stored under a key that is lost.')
  @Audited('webhook_endpoint.secret_revealed')
  async reveal(
    @Param('id') endpoint_id: string,
    @SentBody(NO_BODY) ignored: readonly Warning[],
    @WebhookCommandOf() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<RevealedSecret>> {
    const body = await this.webhooks.endpoints.revealSecret({ ...command, endpoint_id }).catch(asUnknownOutcome);
    return this.responder.respond(reply, ignored, { body });
  }
}
