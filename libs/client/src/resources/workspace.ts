import type { BodyOf, QueryOf } from '../api-types.ts';
import type { Api } from '../http/api.ts';
import type { ReadOptions, RequestOptions, WriteOptions } from '../options.ts';

export class Settings {
  constructor(private readonly api: Api) {}

  get(options?: ReadOptions) {
    return this.api.call('getSettings', {}, options);
  }

  patch(changes: BodyOf<'changeSettings'>, options?: WriteOptions) {
    return this.api.call('changeSettings', { body: changes }, options);
  }
}

export class AuditLog {
  constructor(private readonly api: Api) {}

  list(query: QueryOf<'listAuditLog'> = {}, options?: RequestOptions) {
    return this.api.list('listAuditLog', { query }, options);
  }
}

export class Health {
  constructor(private readonly api: Api) {}

  live(options?: RequestOptions) {
    return this.api.call('live', {}, options);
  }

  /** @throws InternalError where it takes no requests */
  ready(options?: RequestOptions) {
    return this.api.call('ready', {}, options);
  }
}
