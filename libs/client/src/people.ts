import type { ApiCaller, BodyOf, QueryOf } from './api.ts';
import type { PostOptions, ReadOptions, RequestOptions, WriteOptions } from './call.ts';

/** The session of a signed-in user, usually in a browser. Requires a client with the option `session`. */
export class SessionOperations {
  constructor(private readonly api: ApiCaller) {}

  signIn(credentials: BodyOf<'signIn'>, options?: PostOptions) {
    return this.api.call('signIn', { body: credentials }, options);
  }

  /** Returns the caller and their permissions; also works with an API key. */
  get(options?: RequestOptions) {
    return this.api.call('getSession', {}, options);
  }

  /** Changes the caller's name. */
  patch(changes: BodyOf<'changeOwnName'>, options?: WriteOptions) {
    return this.api.call('changeOwnName', { body: changes }, options);
  }

  /**
   * Ends this session. The `id` of the result is empty if an earlier attempt ended the session and its response was
   * lost.
   */
  signOut(options?: WriteOptions) {
    return this.api.call(
      'signOut',
      { resultIfDeleted: { id: '', deleted: true, warnings: [] }, endsOwnSession: true },
      options,
    );
  }

  /** Changes the caller's password, ends the caller's other sessions, and replaces the cookie of this session. */
  changePassword(passwords: BodyOf<'changePassword'>, options?: PostOptions) {
    return this.api.call('changePassword', { body: passwords }, options);
  }

  /** Lists the caller's sessions on all devices. */
  list(query: QueryOf<'listSessions'> = {}, options?: RequestOptions) {
    return this.api.list('listSessions', { query }, options);
  }

  end(id: string, options?: WriteOptions) {
    return this.api.call('endSession', { path: { id }, resultIfDeleted: { id, deleted: true, warnings: [] } }, options);
  }
}

/** Invitations and password resets by one-time links. The token is the only credential. */
export class Invitations {
  constructor(private readonly api: ApiCaller) {}

  get(token: string, options?: RequestOptions) {
    return this.api.call('getInvitation', { path: { token } }, options);
  }

  /** Sets the password of the link's user. The token of the link is the only credential. */
  use(token: string, person: BodyOf<'useInvitation'>, options?: PostOptions) {
    return this.api.call('useInvitation', { path: { token }, body: person }, options);
  }
}

export class Users {
  constructor(private readonly api: ApiCaller) {}

  /** Invites a user. Only this response contains the one-time `invitation_url`. */
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

  /** Ends the user's sessions and returns a one-time `reset_url` for a new password. */
  resetPassword(id: string, reset: BodyOf<'resetUserPassword'> = {}, options?: PostOptions) {
    return this.api.call('resetUserPassword', { path: { id }, body: reset }, options);
  }
}

export class ServiceAccounts {
  constructor(private readonly api: ApiCaller) {}

  create(account: BodyOf<'createServiceAccount'>, options?: PostOptions) {
    return this.api.call('createServiceAccount', { body: account }, options);
  }

  list(query: QueryOf<'listServiceAccounts'> = {}, options?: RequestOptions) {
    return this.api.list('listServiceAccounts', { query }, options);
  }

  get(id: string, options?: ReadOptions) {
    return this.api.call('getServiceAccount', { path: { id } }, options);
  }

  patch(id: string, changes: BodyOf<'changeServiceAccount'>, options?: WriteOptions) {
    return this.api.call('changeServiceAccount', { path: { id }, body: changes }, options);
  }

  deactivate(id: string, options?: PostOptions) {
    return this.api.call('deactivateServiceAccount', { path: { id } }, options);
  }

  reactivate(id: string, options?: PostOptions) {
    return this.api.call('reactivateServiceAccount', { path: { id } }, options);
  }
}

export class Keys {
  constructor(private readonly api: ApiCaller) {}

  /** Creates an API key for the caller or for a service account. Only this response contains the `key`. */
  create(key: BodyOf<'createApiKey'>, options?: PostOptions) {
    return this.api.call('createApiKey', { body: key }, options);
  }

  list(query: QueryOf<'listApiKeys'> = {}, options?: RequestOptions) {
    return this.api.list('listApiKeys', { query }, options);
  }

  get(id: string, options?: ReadOptions) {
    return this.api.call('getApiKey', { path: { id } }, options);
  }

  /** Replaces an API key with a new one. The old key remains valid for the grace period. */
  rotate(id: string, rotation: BodyOf<'rotateApiKey'> = {}, options?: PostOptions) {
    return this.api.call('rotateApiKey', { path: { id }, body: rotation }, options);
  }

  revoke(id: string, options?: PostOptions) {
    return this.api.call('revokeApiKey', { path: { id } }, options);
  }
}

export class Settings {
  constructor(private readonly api: ApiCaller) {}

  get(options?: ReadOptions) {
    return this.api.call('getSettings', {}, options);
  }

  patch(changes: BodyOf<'changeSettings'>, options?: WriteOptions) {
    return this.api.call('changeSettings', { body: changes }, options);
  }
}

export class AuditLog {
  constructor(private readonly api: ApiCaller) {}

  list(query: QueryOf<'listAuditLog'> = {}, options?: RequestOptions) {
    return this.api.list('listAuditLog', { query }, options);
  }
}

export class Health {
  constructor(private readonly api: ApiCaller) {}

  live(options?: RequestOptions) {
    return this.api.call('live', {}, options);
  }

  /** Succeeds if the service accepts requests. @throws InternalError if it does not */
  ready(options?: RequestOptions) {
    return this.api.call('ready', {}, options);
  }
}
