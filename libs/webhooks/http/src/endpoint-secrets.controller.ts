import { Controller, HttpCode, Inject, Param, Post, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Warning } from '@tracking/contracts';
import { Audited, NO_BODY, Operation, SentBody, refusal } from '@tracking/http';
import type { ReadBody } from '@tracking/http';
import type { NewWebhookEndpoint, RevealedSecret } from '@tracking/webhooks';
import type { FastifyReply } from 'fastify';
import type { WebhooksHttpDependencies } from './dependencies.ts';
import { EndpointSecretsResource, ROTATION, RotateSecretDto } from './endpoint-secrets.resource.ts';
import { EndpointCreatedResource } from './endpoint.resource.ts';
import { WebhookWrites } from './webhook-writes.ts';
import type { WithWarnings } from './webhook-writes.ts';
import { WEBHOOKS } from './dependencies.ts';

const Unknown = () => refusal(404, 'No such endpoint in this workspace and environment.');

/** Both tell the audit log nothing but that they were done: the secret is no field of what it shows. */
@ApiTags('Webhook endpoints')
@Controller('v1/webhook_endpoints')
export class EndpointSecretsController {
  constructor(
    @Inject(WEBHOOKS) private readonly webhooks: WebhooksHttpDependencies['webhooks'],
    @Inject(WebhookWrites) private readonly writes: WebhookWrites,
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
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WithWarnings<NewWebhookEndpoint>> {
    const overlap = typeof expires_in_seconds === 'number' ? { expires_in_seconds } : {};
    return this.writes.write(reply, warnings, (command) =>
      this.webhooks.endpoints.rotateSecret({ ...command, endpoint_id, ...overlap }),
    );
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
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WithWarnings<RevealedSecret>> {
    return this.writes.write(reply, ignored, (command) =>
      this.webhooks.endpoints.revealSecret({ ...command, endpoint_id }),
    );
  }
}
