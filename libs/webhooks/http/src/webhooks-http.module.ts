import { type DynamicModule, Module } from '@nestjs/common';
import { LOG_HEAD_INJECTION_TOKEN, WEBHOOKS_INJECTION_TOKEN, type WebhooksHttpDependencies } from './dependencies.ts';
import { WEBHOOK_DOCS } from './docs/webhooks-docs.ts';
import { VerificationThrottle } from './verification-throttle.ts';
import { WebhookDeadLettersController } from './webhook-dead-letters.controller.ts';
import { WebhookDeliveriesController } from './webhook-deliveries.controller.ts';
import { WebhookEndpointsController } from './webhook-endpoints.controller.ts';
import { WebhookReplaysController } from './webhook-replays.controller.ts';

/** HTTP routes of webhook endpoints, deliveries, dead letters and replays. */
@Module({})
export class WebhooksHttpModule {
  static readonly docs = WEBHOOK_DOCS;

  static createModuleWithDependencies({ webhooks, head, quota }: WebhooksHttpDependencies): DynamicModule {
    return {
      module: WebhooksHttpModule,
      controllers: [
        WebhookEndpointsController,
        WebhookDeliveriesController,
        WebhookDeadLettersController,
        WebhookReplaysController,
      ],
      providers: [
        { provide: WEBHOOKS_INJECTION_TOKEN, useValue: webhooks },
        { provide: LOG_HEAD_INJECTION_TOKEN, useValue: head },
        { provide: VerificationThrottle, useFactory: () => new VerificationThrottle(quota) },
      ],
    };
  }
}
