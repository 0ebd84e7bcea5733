import { Module } from '@nestjs/common';
import type { DynamicModule, Provider } from '@nestjs/common';
import { LOGGER_INJECTION_TOKEN } from '@tracking/http';
import type { FeatureDocs, FeatureHooks } from '@tracking/http';
import { createRetryCounter } from '@tracking/ports';
import type { Logger } from '@tracking/ports';
import type { PublishedEventFeed } from '@tracking/read-models';
import { ShipmentFinder } from './bulk/bulk-milestone.ts';
import { BulkController } from './bulk/bulk.controller.ts';
import {
  EVENTS_INJECTION_TOKEN,
  ACTOR_NAMES_INJECTION_TOKEN,
  PLACES_INJECTION_TOKEN,
  READ_MODELS_INJECTION_TOKEN,
  SHIPMENTS_INJECTION_TOKEN,
} from './dependencies.ts';
import type { ShipmentsHttpDependencies } from './dependencies.ts';
import { SHIPMENT_ERROR_DOCS, FIELD_ERROR_DOCS, REFUSAL_CODES_BY_OPERATION, WARNING_DOCS } from './docs/codes.ts';
import {
  PATH_PARAMETER_SAMPLES,
  RESOURCE_NOUNS_AND_EXAMPLE_IDS,
  OPENAPI_SCHEMA_EXAMPLES_BY_NAME,
  EXAMPLE_FIELD_VALUES,
} from './docs/samples.ts';
import { EventStreamStarter, EventStreamController } from './events/event-stream.controller.ts';
import { OpenEventStreams, encodeServerSentEvent } from './events/event-streams.ts';
import { addEventSchemasToOpenApi, EventDataResource } from './events/event.resource.ts';
import { EventsController } from './events/events.controller.ts';
import { ExceptionsController } from './exceptions/exceptions.controller.ts';
import { MilestonesController } from './milestones/milestones.controller.ts';
import { PlacesController } from './places.controller.ts';
import { ActorNameFinder } from './shipments/shipment-history.ts';
import { ShipmentReader } from './shipments/shipment-reader.ts';
import { ShipmentsController } from './shipments/shipments.controller.ts';
import { DuplicateShipmentFinder, ShipmentWriteResponder } from './shipments/written-shipments.ts';

/** Module with the routes for shipments, milestones and exceptions. */
@Module({})
export class ShipmentsHttpModule {
  static readonly docs: FeatureDocs = {
    errors: SHIPMENT_ERROR_DOCS,
    fields: FIELD_ERROR_DOCS,
    warnings: WARNING_DOCS,
    refusals: REFUSAL_CODES_BY_OPERATION,
    resources: RESOURCE_NOUNS_AND_EXAMPLE_IDS,
    pathParameters: PATH_PARAMETER_SAMPLES,
    samples: OPENAPI_SCHEMA_EXAMPLES_BY_NAME,
    values: EXAMPLE_FIELD_VALUES,
  };

  static createModuleWithDependencies(dependencies: ShipmentsHttpDependencies): DynamicModule {
    return {
      module: ShipmentsHttpModule,
      controllers: [BulkController, ShipmentsController, MilestonesController, ExceptionsController],
      providers: [
        { provide: ACTOR_NAMES_INJECTION_TOKEN, useValue: dependencies.identity },
        { provide: PLACES_INJECTION_TOKEN, useValue: dependencies.places },
        ...createShipmentReadProviders(dependencies),
        ActorNameFinder,
        ShipmentFinder,
        ShipmentWriteResponder,
        DuplicateShipmentFinder,
      ],
    };
  }
}

/** Returns providers that read shipments, for this module and for features with resources of shipments. */
export function createShipmentReadProviders({
  shipments,
  readModels,
}: Pick<ShipmentsHttpDependencies, 'shipments' | 'readModels'>): readonly Provider[] {
  return [
    { provide: SHIPMENTS_INJECTION_TOKEN, useValue: shipments },
    { provide: READ_MODELS_INJECTION_TOKEN, useValue: readModels },
    ShipmentReader,
  ];
}

const EVENT_FEED_TOKEN = Symbol('event feed');

/** Module with the routes for events, event streams and places. */
@Module({})
export class EventsHttpModule {
  static readonly docs: FeatureDocs = { models: [EventDataResource], describe: addEventSchemasToOpenApi };

  static readonly hooks: FeatureHooks = {
    beforeClose: (server, app) => {
      const streams = app.get(OpenEventStreams);
      const feed = app.get<PublishedEventFeed>(EVENT_FEED_TOKEN);
      server.addHook('preClose', (done) => {
        streams.endAllStreams();
        feed.endFollowers();
        done();
      });
    },
  };

  static createModuleWithDependencies({
    events,
    head,
    metrics,
    places,
    settings,
  }: ShipmentsHttpDependencies): DynamicModule {
    return {
      module: EventsHttpModule,
      controllers: [EventStreamController, PlacesController, EventsController],
      providers: [
        { provide: EVENTS_INJECTION_TOKEN, useValue: events },
        { provide: PLACES_INJECTION_TOKEN, useValue: places },
        {
          provide: EVENT_FEED_TOKEN,
          inject: [LOGGER_INJECTION_TOKEN],
          useFactory: (logger: Logger) => {
            const countRetry = createRetryCounter(metrics);
            const onFailure = (error: unknown) => {
              countRetry('following events');
              logger.warn({ error: String(error) }, 'event streams wait for their store');
            };
            return events.createPublishedEventFeed({ encode: encodeServerSentEvent, onFailure });
          },
        },
        { provide: OpenEventStreams, useFactory: () => new OpenEventStreams(metrics, settings.eventStreams) },
        {
          provide: EventStreamStarter,
          inject: [EVENT_FEED_TOKEN],
          useFactory: (feed: PublishedEventFeed) => new EventStreamStarter(feed, events, head),
        },
      ],
    };
  }
}
