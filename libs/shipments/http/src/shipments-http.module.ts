import { Module } from '@nestjs/common';
import type { DynamicModule, Provider } from '@nestjs/common';
import { LOGGER_TOKEN } from '@tracking/http';
import type { FeatureDocs, FeatureHooks } from '@tracking/http';
import { createRetryCounter } from '@tracking/ports';
import type { Logger } from '@tracking/ports';
import type { EventFeed } from '@tracking/read-models';
import { ShipmentFinder } from './bulk/bulk-milestone.ts';
import { BulkController } from './bulk/bulk.controller.ts';
import { EVENTS_TOKEN, IDENTITY_TOKEN, PLACES_TOKEN, READ_MODELS_TOKEN, SHIPMENTS_TOKEN } from './dependencies.ts';
import type { ShipmentsHttpDependencies } from './dependencies.ts';
import { ERROR_DOCS, FIELD_ERROR_DOCS, REFUSAL_DOCS, WARNING_DOCS } from './docs/codes.ts';
import { PATH_PARAMETER_SAMPLES, SAMPLES_BY_RESOURCE, SAMPLE_RESOURCES, SAMPLE_VALUES } from './docs/samples.ts';
import { EventFollower, EventStreamController } from './events/event-stream.controller.ts';
import { EventStreams, encodeEvent } from './events/event-streams.ts';
import { describeEvents, EventDataResource } from './events/event.resource.ts';
import { EventsController } from './events/events.controller.ts';
import { ExceptionsController } from './exceptions/exceptions.controller.ts';
import { MilestonesController } from './milestones/milestones.controller.ts';
import { PlacesController } from './places.controller.ts';
import { ActorNames } from './shipments/shipment-history.ts';
import { ShipmentReader } from './shipments/shipment-reader.ts';
import { ShipmentsController } from './shipments/shipments.controller.ts';
import { PossibleDuplicates, WrittenShipments } from './shipments/written-shipments.ts';

/** Module with the routes for shipments, milestones and exceptions. */
@Module({})
export class ShipmentsHttpModule {
  static readonly docs: FeatureDocs = {
    errors: ERROR_DOCS,
    fields: FIELD_ERROR_DOCS,
    warnings: WARNING_DOCS,
    refusals: REFUSAL_DOCS,
    resources: SAMPLES_BY_RESOURCE,
    pathParameters: PATH_PARAMETER_SAMPLES,
    samples: SAMPLE_RESOURCES,
    values: SAMPLE_VALUES,
  };

  static withDependencies(dependencies: ShipmentsHttpDependencies): DynamicModule {
    return {
      module: ShipmentsHttpModule,
      controllers: [BulkController, ShipmentsController, MilestonesController, ExceptionsController],
      providers: [
        { provide: IDENTITY_TOKEN, useValue: dependencies.identity },
        { provide: PLACES_TOKEN, useValue: dependencies.places },
        ...createShipmentReadProviders(dependencies),
        ActorNames,
        ShipmentFinder,
        WrittenShipments,
        PossibleDuplicates,
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
    { provide: SHIPMENTS_TOKEN, useValue: shipments },
    { provide: READ_MODELS_TOKEN, useValue: readModels },
    ShipmentReader,
  ];
}

const EVENT_FEED_TOKEN = Symbol('event feed');

/** Module with the routes for events, event streams and places. */
@Module({})
export class EventsHttpModule {
  static readonly docs: FeatureDocs = { models: [EventDataResource], describe: describeEvents };

  static readonly hooks: FeatureHooks = {
    beforeClose: (server, app) => {
      const streams = app.get(EventStreams);
      const feed = app.get<EventFeed>(EVENT_FEED_TOKEN);
      server.addHook('preClose', (done) => {
        streams.endAllStreams();
        feed.endFollowers();
        done();
      });
    },
  };

  static withDependencies({ events, head, metrics, places, settings }: ShipmentsHttpDependencies): DynamicModule {
    return {
      module: EventsHttpModule,
      controllers: [EventStreamController, PlacesController, EventsController],
      providers: [
        { provide: EVENTS_TOKEN, useValue: events },
        { provide: PLACES_TOKEN, useValue: places },
        {
          provide: EVENT_FEED_TOKEN,
          inject: [LOGGER_TOKEN],
          useFactory: (logger: Logger) => {
            const countRetry = createRetryCounter(metrics);
            const onFailure = (error: unknown) => {
              countRetry('following events');
              logger.warn({ error: String(error) }, 'event streams wait for their store');
            };
            return events.createFeed({ encode: encodeEvent, onFailure });
          },
        },
        { provide: EventStreams, useFactory: () => new EventStreams(metrics, settings.eventStreams) },
        {
          provide: EventFollower,
          inject: [EVENT_FEED_TOKEN],
          useFactory: (feed: EventFeed) => new EventFollower(feed, events, head),
        },
      ],
    };
  }
}
