import type { BodyOf, QueryOf } from '../api-types.ts';
import type { Api } from '../http/api.ts';
import type { PostOptions, RequestOptions, WriteOptions } from '../options.ts';

/** Of people, in the browser mostly: for a client that was made with `session`. */
export class SessionOperations {
  constructor(private readonly api: Api) {}

  signIn(credentials: BodyOf<'signIn'>, options?: PostOptions) {
    return this.api.call('signIn', { body: credentials }, options);
  }

  /** Who am I, and what may I do: also with a key. */
  get(options?: RequestOptions) {
    return this.api.call('getSession', {}, options);
  }

  /** What one is called. */
  patch(changes: BodyOf<'changeOwnName'>, options?: WriteOptions) {
    return this.api.call('changeOwnName', { body: changes }, options);
  }

  /** Ends this session. If the answer to an earlier try was lost, the `id` of the result is empty. */
  signOut(options?: WriteOptions) {
    return this.api.call('signOut', { gone: { id: '', deleted: true, warnings: [] }, endsOwnSession: true }, options);
  }

  /** Ends every other session of theirs. */
  changePassword(passwords: BodyOf<'changePassword'>, options?: PostOptions) {
    return this.api.call('changePassword', { body: passwords }, options);
  }

  /** One's own, on all devices. */
  list(query: QueryOf<'listSessions'> = {}, options?: RequestOptions) {
    return this.api.list('listSessions', { query }, options);
  }

  end(id: string, options?: WriteOptions) {
    return this.api.call('endSession', { path: { id }, gone: { id, deleted: true, warnings: [] } }, options);
  }
}

/** One-time links: who holds the token needs nothing else. */
export class Invitations {
  constructor(private readonly api: Api) {}

  get(token: string, options?: RequestOptions) {
    return this.api.call('getInvitation', { path: { token } }, options);
  }

  /** Sets a password. */
  use(token: string, person: BodyOf<'useInvitation'>, options?: PostOptions) {
    return this.api.call('useInvitation', { path: { token }, body: person }, options);
  }
}
