import type { QueryOf } from '../api-types.ts';
import type { Api } from '../http/api.ts';
import type { RequestOptions } from '../options.ts';

/** Ports and airports. */
export class Places {
  constructor(private readonly api: Api) {}

  /** By words of their names, or by their codes. */
  find(query: QueryOf<'listPlaces'> = {}, options?: RequestOptions) {
    return this.api.call('listPlaces', { query }, options);
  }
}
