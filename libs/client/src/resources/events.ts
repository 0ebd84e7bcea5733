import type { QueryOf } from '../api-types.ts';
import type { Call } from '../call.ts';
import { EventStream, type StreamOptions } from '../events/event-stream.ts';
import type { TrackingEvent } from '../events/event-types.ts';
import type { Api } from '../http/api.ts';
import type { List } from '../list.ts';
import type { ReadOptions, RequestOptions } from '../options.ts';

export class Events {
  constructor(private readonly api: Api) {}

  /** What was announced, the oldest first, whether or not anybody listened; kept for 30 days. */
  list(query: QueryOf<'listEvents'> = {}, options?: RequestOptions): List<TrackingEvent> {
    return this.api.list('listEvents', { query }, options) as unknown as List<TrackingEvent>;
  }

  get(id: string, options?: ReadOptions): Call<TrackingEvent> {
    return this.api.call('getEvent', { path: { id } }, options) as unknown as Call<TrackingEvent>;
  }

  /** Events as they happen: `for await (const event of client.events.stream()) …`. */
  stream(query: Omit<QueryOf<'streamEvents'>, 'after'> = {}, options?: StreamOptions): EventStream {
    return new EventStream(this.api, query, options);
  }
}
