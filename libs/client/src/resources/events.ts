import type { QueryOf } from '../api-types.ts';
import { EventStream, type StreamOptions } from '../events/event-stream.ts';
import type { Api } from '../http/api.ts';
import type { ReadOptions, RequestOptions } from '../options.ts';

export class Events {
  constructor(private readonly api: Api) {}

  /** What was announced, the oldest first unless told, whether or not anybody listened; kept for 30 days. */
  list(query: QueryOf<'listEvents'> = {}, options?: RequestOptions) {
    return this.api.list('listEvents', { query }, options);
  }

  get(id: string, options?: ReadOptions) {
    return this.api.call('getEvent', { path: { id } }, options);
  }

  /** Events as they happen: `for await (const event of client.events.stream()) …`. */
  stream(query: Omit<QueryOf<'streamEvents'>, 'after'> = {}, options?: StreamOptions): EventStream {
    return new EventStream(this.api, query, options);
  }
}
