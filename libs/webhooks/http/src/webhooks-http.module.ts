import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import type { FeatureDocs } from '@tracking/http';
import { HEAD, WEBHOOKS } from './dependencies.ts';
import type { WebhooksHttpDependencies } from './dependencies.ts';
import { ERRORS, REFUSALS } from './docs/codes.ts';
import { RESOURCES, SAMPLES, VALUES } from './docs/samples.ts';
import { describeWebhooks } from './docs/webhook-requests.ts';
import { webhooksPage } from './docs/webhooks-page.ts';
import { EndpointSecretsController } from './endpoint-secrets.controller.ts';
import { WebhookDeadLettersController } from './webhook-dead-letters.controller.ts';
import { WebhookDeliveriesController } from './webhook-deliveries.controller.ts';
import { WebhookEndpointsController } from './webhook-endpoints.controller.ts';
import { WebhookReplaysController } from './webhook-replays.controller.ts';

/** Webhook endpoints with their deliveries, dead letters and replays. */
@Module({})
export class WebhooksHttpModule {
  static readonly docs: FeatureDocs = {
    errors: ERRORS,
    refusals: REFUSALS,
    resources: RESOURCES,
    samples: SAMPLES,
    values: VALUES,
    describe: describeWebhooks,
    pages: { webhooks: webhooksPage },
  };

  static with({ webhooks, head }: WebhooksHttpDependencies): DynamicModule {
    return {
      module: WebhooksHttpModule,
      controllers: [
        WebhookEndpointsController,
        EndpointSecretsController,
        WebhookDeliveriesController,
        WebhookDeadLettersController,
        WebhookReplaysController,
      ],
      providers: [
        { provide: WEBHOOKS, useValue: webhooks },
        { provide: HEAD, useValue: head },
      ],
    };
  }
}
