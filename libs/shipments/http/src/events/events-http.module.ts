import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { LOGGER } from '@tracking/http';
import type { FeatureDocs, FeatureHooks } from '@tracking/http';
import { type Logger, retryCounter } from '@tracking/ports';
import type { EventFeed } from '@tracking/read-models';
import { EVENTS, PLACES } from '../dependencies.ts';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { PlacesController } from '../places/places.controller.ts';
import { EventDataResource, describeEvents } from './event-schemas.ts';
import { EventsController } from './events.controller.ts';
import { EventStreams } from './stream/event-streams.ts';
import { eventText } from './stream/event-text.ts';
import { EventsStreamController } from './stream/events-stream.controller.ts';
import { Following } from './stream/following.ts';

const EVENT_FEED = Symbol('event feed');

/** Events, to list and to follow, and places. */
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
      controllers: [EventsStreamController, PlacesController, EventsController],
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
            return events.feed({ encode: eventText, onFailure });
          },
        },
        { provide: EventStreams, useFactory: () => new EventStreams(metrics, settings.eventStreams) },
        {
          provide: Following,
          inject: [EVENT_FEED],
          useFactory: (feed: EventFeed) => new Following(feed, events, head),
        },
      ],
    };
  }
}
