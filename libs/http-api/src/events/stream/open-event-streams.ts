import { retryCounter } from '@tracking/ports';
import type { HttpApiDependencies } from '../../dependencies.ts';
import { eventText } from './event-text.ts';
import { EventStreams } from './event-streams.ts';
import { Following } from './following.ts';

export interface OpenEventStreams {
  readonly following: Following;
  readonly streams: EventStreams;
  /** Ends all streams, and takes no more. */
  close(): void;
}

/** What is told on streams, and the streams of this process. */
export function openEventStreams({ events, head, logger, metrics, settings }: HttpApiDependencies): OpenEventStreams {
  const countRetry = retryCounter(metrics);
  const onFailure = (error: unknown) => {
    countRetry('following events');
    logger.warn({ error: String(error) }, 'event streams wait for their store');
  };
  const feed = events.feed({ encode: eventText, onFailure });
  const streams = new EventStreams(metrics, settings.eventStreams);
  const close = () => {
    streams.close();
    feed.close();
  };
  return { following: new Following(feed, events, head), streams, close };
}
