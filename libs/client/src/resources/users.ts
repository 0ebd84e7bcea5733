import type { BodyOf, QueryOf } from '../api-types.ts';
import type { Api } from '../http/api.ts';
import type { PostOptions, ReadOptions, RequestOptions, WriteOptions } from '../options.ts';

export class Users {
  constructor(private readonly api: Api) {}

  /** The answer holds the one-time `invitation_url`, and no other one does. */
  invite(user: BodyOf<'inviteUser'>, options?: PostOptions) {
    return this.api.call('inviteUser', { body: user }, options);
  }

  list(query: QueryOf<'listUsers'> = {}, options?: RequestOptions) {
    return this.api.list('listUsers', { query }, options);
  }

  get(id: string, options?: ReadOptions) {
    return this.api.call('getUser', { path: { id } }, options);
  }

  patch(id: string, changes: BodyOf<'changeUser'>, options?: WriteOptions) {
    return this.api.call('changeUser', { path: { id }, body: changes }, options);
  }

  deactivate(id: string, options?: PostOptions) {
    return this.api.call('deactivateUser', { path: { id } }, options);
  }

  reactivate(id: string, options?: PostOptions) {
    return this.api.call('reactivateUser', { path: { id } }, options);
  }

  /** The answer holds the one-time `reset_url`. */
  resetPassword(id: string, options?: PostOptions) {
    return this.api.call('resetUserPassword', { path: { id } }, options);
  }
}
