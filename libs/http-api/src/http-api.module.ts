import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { DEPENDENCIES } from './dependencies.ts';
import type { HttpApiDependencies } from './dependencies.ts';
import { EventsController } from './events/events.controller.ts';
import { EVENTS } from './events/events-service.ts';
import { HealthController } from './health/health.controller.ts';
import { MilestoneCodesController } from './milestones/milestone-codes.controller.ts';
import { MilestonesController } from './milestones/milestones.controller.ts';
import { ReadYourWrites } from './read-your-writes/read-your-writes.ts';
import { Cursors } from './paging/cursors.ts';
import { Sealer } from './server/seal.ts';
import { CancellationController } from './shipments/cancellation.controller.ts';
import { PossibleDuplicates } from './shipments/possible-duplicates.ts';
import { ShipmentReader } from './shipments/shipment-reader.ts';
import { ShipmentsController } from './shipments/shipments.controller.ts';
import { WebhookDeliveriesController } from './webhooks/webhook-deliveries.controller.ts';
import { WebhookEndpointsController } from './webhooks/webhook-endpoints.controller.ts';
import { WEBHOOKS, WebhookWrites } from './webhooks/webhooks.ts';

/** The routes of the public API. Every provider is a singleton; what belongs to a request is on the request. */
@Module({})
export class HttpApiModule {
  static with(dependencies: HttpApiDependencies): DynamicModule {
    const { readModels, settings, webhooks, events } = dependencies;
    const sealer = new Sealer(settings.cursorSecret);
    const readYourWrites = new ReadYourWrites(sealer, readModels, {
      listMs: settings.readYourWritesWaitMs ?? 5_000,
      answerMs: settings.answerWaitMs ?? 0,
    });
    return {
      module: HttpApiModule,
      controllers: [
        ShipmentsController,
        CancellationController,
        MilestonesController,
        MilestoneCodesController,
        EventsController,
        WebhookEndpointsController,
        WebhookDeliveriesController,
        HealthController,
      ],
      providers: [
        { provide: DEPENDENCIES, useValue: dependencies },
        { provide: EVENTS, useValue: events },
        { provide: WEBHOOKS, useValue: webhooks },
        { provide: ReadYourWrites, useValue: readYourWrites },
        { provide: Cursors, useValue: new Cursors(sealer) },
        ShipmentReader,
        PossibleDuplicates,
        WebhookWrites,
      ],
    };
  }
}
