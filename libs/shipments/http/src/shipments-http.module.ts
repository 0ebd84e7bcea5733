import { Module } from '@nestjs/common';
import type { DynamicModule, Provider } from '@nestjs/common';
import { LOGGER } from '@tracking/http';
import type { FeatureDocs, FeatureHooks } from '@tracking/http';
import { retryCounter } from '@tracking/ports';
import type { Logger } from '@tracking/ports';
import type { EventFeed } from '@tracking/read-models';
import { ShipmentFinder } from './bulk/bulk-milestone.ts';
import { BulkController } from './bulk/bulk.controller.ts';
import { EVENTS, IDENTITY, PLACES, READ_MODELS, SHIPMENTS } from './dependencies.ts';
import type { ShipmentsHttpDependencies } from './dependencies.ts';
import { ERROR_DOCS, FIELDS, REFUSAL_DOCS, WARNING_DOCS } from './docs/codes.ts';
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
    fields: FIELDS,
    warnings: WARNING_DOCS,
    refusals: REFUSAL_DOCS,
    resources: SAMPLES_BY_RESOURCE,
    pathParameters: PATH_PARAMETER_SAMPLES,
    samples: SAMPLE_RESOURCES,
    values: SAMPLE_VALUES,
  };

  static with(dependencies: ShipmentsHttpDependencies): DynamicModule {
    return {
      module: ShipmentsHttpModule,
      controllers: [BulkController, ShipmentsController, MilestonesController, ExceptionsController],
      providers: [
        { provide: IDENTITY, useValue: dependencies.identity },
        { provide: PLACES, useValue: dependencies.places },
        ...createShipmentReading(dependencies),
        ActorNames,
        ShipmentFinder,
        WrittenShipments,
        PossibleDuplicates,
      ],
    };
  }
}

/** Returns providers that read shipments, for this module and for features with resources of shipments. */
export function createShipmentReading({
  shipments,
  readModels,
}: Pick<ShipmentsHttpDependencies, 'shipments' | 'readModels'>): readonly Provider[] {
  return [{ provide: SHIPMENTS, useValue: shipments }, { provide: READ_MODELS, useValue: readModels }, ShipmentReader];
}

const EVENT_FEED = Symbol('event feed');

/** Module with the routes for events, event streams and places. */
@Module({})
export class EventsHttpModule {
  static readonly docs: FeatureDocs = { models: [EventDataResource], describe: describeEvents };

  static readonly hooks: FeatureHooks = {
    beforeClose: (server, app) => {
      const streams = app.get(EventStreams);
      const feed = app.get<EventFeed>(EVENT_FEED);
      server.addHook('preClose', (done) => {
        streams.close();
        feed.close();
        done();
      });
    },
  };

  static with({ events, head, metrics, places, settings }: ShipmentsHttpDependencies): DynamicModule {
    return {
      module: EventsHttpModule,
      controllers: [EventStreamController, PlacesController, EventsController],
      providers: [
        { provide: EVENTS, useValue: events },
        { provide: PLACES, useValue: places },
        {
          provide: EVENT_FEED,
          inject: [LOGGER],
          useFactory: (logger: Logger) => {
            const countRetry = retryCounter(metrics);
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
          inject: [EVENT_FEED],
          useFactory: (feed: EventFeed) => new EventFollower(feed, events, head),
        },
      ],
    };
  }
}
