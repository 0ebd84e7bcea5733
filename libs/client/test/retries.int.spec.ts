import {
  ConflictError,
  ConnectionError,
  InternalError,
  InvalidRequestError,
  NotModifiedError,
  RateLimitError,
  TimeoutError,
  TrackingClient,
  type ApiError,
} from '../src/index.ts';
import type { ClientOptions } from '../src/index.ts';
import {
  HostileServer,
  breakResponse,
  resetConnection,
  createJsonResponder,
  leaveRequestUnanswered,
  createOkRequestHandler,
  createApiErrorResponder,
  type RequestHandler,
} from './hostile-server.ts';

/** A client with a server that fails in every possible way. */
describe('a request that fails', () => {
  let server: HostileServer;
  beforeAll(async () => {
    server = await HostileServer.startHostileServer();
  });
  afterAll(() => server.closeHostileServer());

  const client = (options: Partial<ClientOptions> = {}) =>
    new TrackingClient({
      baseUrl: server.url,
      apiKey: 'sk_test_1',
      backoff: { first: 1, most: 2 },
      transport: { proxy: false },
      ...options,
    });
  const keys = () => server.requests.map(({ headers }) => headers['idempotency-key']);
  const shipment = { external_id: 'PO-1' };
  const soon = { 'retry-after': '0' };

  it.each<[string, RequestHandler]>([
    ['429', createApiErrorResponder(429, 'rate_limit', 'rate_limited', soon)],
    ['503', createApiErrorResponder(503, 'internal', 'unavailable', soon)],
    ['a proxy’s 502', createJsonResponder(502, 'Bad Gateway')],
    ['a proxy’s 504', createJsonResponder(504, {})],
    ['a broken connection', resetConnection],
    ['an answer that breaks in the middle', breakResponse],
    ['a first one that is still under way', createApiErrorResponder(409, 'conflict', 'idempotency_in_progress', soon)],
  ])('is sent again after %s, and a POST keeps its key', async (_what, answer) => {
    server.replaceRequestHandlers(
      answer,
      answer,
      createOkRequestHandler({ id: 'shp_1' }, { 'idempotency-replayed': 'true' }),
    );
    const call = client().shipments.upsert(shipment);
    expect(await call).toEqual({ id: 'shp_1' });
    expect((await call.withResponse()).replayed).toBe(true);
    expect(server.requests.map(({ body }) => JSON.parse(body))).toEqual([shipment, shipment, shipment]);
    expect(new Set(keys()).size).toBe(1);
    expect(keys()[0]).toMatch(/^[0-9a-f]{32}$/);
  });

  it('has a new key for each call, or the given key', async () => {
    server.replaceRequestHandlers(createOkRequestHandler());
    const one = client();
    await one.shipments.upsert(shipment);
    await one.shipments.upsert(shipment);
    await one.shipments.upsert(shipment, { idempotencyKey: 'mine' });
    await one.health.live();
    expect(new Set(keys().slice(0, 2)).size).toBe(2);
    expect(keys().slice(2)).toEqual(['mine', undefined]);
  });

  it('fails with the last error after the maximum number of retries', async () => {
    server.replaceRequestHandlers(createApiErrorResponder(503, 'internal', 'busy', soon));
    const error = await client({ retries: 2 })
      .shipments.get('shp_1')
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InternalError);
    expect(error).toMatchObject({ code: 'busy', status: 503, attempts: 3, retryAfter: 0, request_id: 'req_1' });
    expect(server.requests).toHaveLength(3);
    server.replaceRequestHandlers(resetConnection);
    await expect(client({ retries: 1 }).shipments.get('shp_1')).rejects.toBeInstanceOf(ConnectionError);
    expect(server.requests).toHaveLength(2);
    await expect(client().shipments.get('shp_1', { retries: 0 })).rejects.toMatchObject({ attempts: 1 });
  });

  it('is not sent again if a retry cannot help', async () => {
    for (const [status, type, code] of [
      [400, 'invalid_request', 'validation_failed'],
      [404, 'not_found', 'not_found'],
      [409, 'conflict', 'shipment_delivered'],
      [500, 'internal', 'internal_error'],
    ] as const) {
      server.replaceRequestHandlers(createApiErrorResponder(status, type, code));
      await expect(client().shipments.cancel('shp_1')).rejects.toMatchObject({ status, type, code });
      expect(server.requests).toHaveLength(1);
    }
  });

  it('is not retried after the deadline', async () => {
    server.replaceRequestHandlers(
      createApiErrorResponder(429, 'rate_limit', 'rate_limited', { 'retry-after': '3600' }),
    );
    const error = await client()
      .shipments.get('shp_1')
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ retryAfter: 3_600, attempts: 1 });
    expect(server.requests).toHaveLength(1);
  });

  it.each<[string, (one: TrackingClient) => PromiseLike<unknown>]>([
    ['a PATCH', (one) => one.shipments.patch('shp_1', {})],
    ['a DELETE', (one) => one.webhookEndpoints.delete('whe_1')],
  ])('and is %s is sent again, because a repeat has the same effect', async (_what, send) => {
    server.replaceRequestHandlers(resetConnection, createOkRequestHandler({ id: 'x' }));
    expect(await send(client())).toEqual({ id: 'x' });
    expect(server.requests).toHaveLength(2);
  });

  it.each<[string, (one: TrackingClient) => PromiseLike<unknown>]>([
    ['endpoint', (one) => one.webhookEndpoints.delete('x')],
    ['session', (one) => one.session.end('x')],
  ])('of a DELETE succeeds if the %s is missing after a lost response', async (_what, send) => {
    const notFound = createApiErrorResponder(404, 'not_found', 'not_found');
    for (const lost of [
      resetConnection,
      createJsonResponder(504, {}),
      createApiErrorResponder(503, 'internal', 'unavailable', soon),
    ]) {
      server.replaceRequestHandlers(lost, createApiErrorResponder(429, 'rate_limit', 'rate_limited', soon), notFound);
      expect(await send(client())).toEqual({ id: 'x', deleted: true, warnings: [] });
    }
    for (const untouched of [[], [createApiErrorResponder(503, 'internal', 'busy', soon)]]) {
      server.replaceRequestHandlers(...untouched, notFound);
      await expect(send(client())).rejects.toMatchObject({ status: 404, attempts: untouched.length + 1 });
    }
  });

  it('of a sign-out succeeds if the session is ended after a lost response', async () => {
    const signedOut = createApiErrorResponder(401, 'authentication', 'invalid_session');
    server.replaceRequestHandlers(resetConnection, signedOut);
    expect(await client().session.signOut()).toEqual({ id: '', deleted: true, warnings: [] });
    server.replaceRequestHandlers(signedOut);
    await expect(client().session.signOut()).rejects.toMatchObject({ status: 401 });
    server.replaceRequestHandlers(resetConnection, signedOut);
    await expect(client().webhookEndpoints.delete('x')).rejects.toMatchObject({ status: 401 });
  });

  it('with a condition is sent again only if it was not carried out', async () => {
    const patch = () => client().shipments.patch('shp_1', {}, { ifMatch: '"3"' });
    for (const answer of [
      resetConnection,
      createJsonResponder(504, {}),
      createApiErrorResponder(503, 'internal', 'unavailable', soon),
    ]) {
      server.replaceRequestHandlers(answer, createOkRequestHandler());
      await expect(patch()).rejects.toMatchObject({ attempts: 1 });
    }
    server.replaceRequestHandlers(
      createApiErrorResponder(429, 'rate_limit', 'rate_limited', soon),
      createApiErrorResponder(503, 'internal', 'busy', soon),
      createOkRequestHandler({ id: 'x' }),
    );
    expect(await patch()).toEqual({ id: 'x' });
    expect(server.requests.map(({ headers }) => headers['if-match'])).toEqual(['"3"', '"3"', '"3"']);
    server.replaceRequestHandlers(createApiErrorResponder(412, 'conflict', 'precondition_failed'));
    await expect(patch()).rejects.toBeInstanceOf(ConflictError);
    await expect(
      new TrackingClient({ baseUrl: 'http://127.0.0.1:1', retries: 1, backoff: { first: 1, most: 1 } }).shipments.patch(
        'shp_1',
        {},
        { ifMatch: '"3"' },
      ),
    ).rejects.toMatchObject({ attempts: 2, outcomeUnknown: false });
  });

  it('has an unknown outcome if an earlier attempt may have been carried out', async () => {
    const stopping = await HostileServer.startHostileServer();
    let stopped: Promise<void> | undefined;
    stopping.replaceRequestHandlers((response) => {
      response.destroy();
      stopped = stopping.closeHostileServer();
    });
    const upsert = client({ baseUrl: stopping.url, retries: 2 }).shipments.upsert(shipment);
    await expect(upsert).rejects.toMatchObject({ attempts: 3, outcomeUnknown: true });
    await stopped;
  });

  it('does not wait for days, although it has no deadline', async () => {
    for (const wait of ['9999999999', 'Fri, 31 Dec 9999 23:59:59 GMT']) {
      server.replaceRequestHandlers(
        createApiErrorResponder(429, 'rate_limit', 'rate_limited', { 'retry-after': wait }),
      );
      await expect(client({ deadline: 0 }).shipments.get('shp_1')).rejects.toMatchObject({ attempts: 1 });
    }
  });

  it('times out, per attempt and in total', async () => {
    server.replaceRequestHandlers(leaveRequestUnanswered, createOkRequestHandler({ id: 'shp_1' }));
    expect(await client({ timeout: 20 }).shipments.get('shp_1')).toEqual({ id: 'shp_1' });
    server.replaceRequestHandlers(leaveRequestUnanswered);
    await expect(client({ timeout: 20, retries: 1 }).shipments.get('shp_1')).rejects.toBeInstanceOf(TimeoutError);
    await expect(client({ deadline: 20 }).shipments.get('shp_1')).rejects.toBeInstanceOf(TimeoutError);
  });

  it('ends with its signal: before, during and between attempts', async () => {
    const reason = new Error('the user has left');
    const aborted = AbortSignal.abort(reason);
    server.replaceRequestHandlers(createOkRequestHandler());
    await expect(client().shipments.get('shp_1', { signal: aborted })).rejects.toBe(reason);
    expect(server.requests).toEqual([]);
    for (const answer of [
      leaveRequestUnanswered,
      createApiErrorResponder(429, 'rate_limit', 'rate_limited', { 'retry-after': '60' }),
    ]) {
      const controller = new AbortController();
      server.replaceRequestHandlers((response, asked) => {
        answer(response, asked);
        setImmediate(() => controller.abort(reason));
      });
      await expect(client().shipments.get('shp_1', { signal: controller.signal })).rejects.toBe(reason);
    }
  });

  it('throws the class, code and fields of the error', async () => {
    const details = [{ param: 'etd', code: 'invalid_timestamp', message: 'Has no offset.' }];
    const error = { type: 'invalid_request', code: 'validation_failed', message: 'etd', param: 'etd', details };
    server.replaceRequestHandlers(createJsonResponder(400, { error: { ...error, request_id: 'req_7' } }));
    const thrown = (await client()
      .shipments.upsert(shipment)
      .catch((refusal: unknown) => refusal)) as ApiError;
    expect(thrown).toBeInstanceOf(InvalidRequestError);
    expect(thrown).toMatchObject({ name: 'InvalidRequestError', ...error, status: 400, request_id: 'req_7' });

    server.replaceRequestHandlers(createJsonResponder(403, '<html>'));
    await expect(client().shipments.get('shp_1')).rejects.toMatchObject({
      name: 'PermissionError',
      code: 'unexpected_answer',
    });
    for (const other of [
      { code: 403, message: 'No.', details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo' }] },
      { type: ['x'], code: 'x', message: 'No.', details: 'x' },
    ]) {
      server.replaceRequestHandlers(createJsonResponder(403, { error: other }));
      const expected = { name: 'PermissionError', code: 'unexpected_answer', details: [] };
      await expect(client().shipments.get('shp_1')).rejects.toMatchObject(expected);
    }
    server.replaceRequestHandlers(
      (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in'),
    );
    await expect(client().shipments.get('shp_1')).rejects.toMatchObject({ code: 'unexpected_answer', status: 200 });
    server.replaceRequestHandlers((response) => void response.writeHead(302, { location: 'http://127.0.0.1:1' }).end());
    await expect(client().shipments.get('shp_1')).rejects.toMatchObject({ code: 'unexpected_answer', status: 302 });
    server.replaceRequestHandlers((response) => void response.writeHead(304, { etag: '"3"' }).end());
    const same = client().shipments.get('shp_1', { ifNoneMatch: '"3"' });
    await expect(same).rejects.toBeInstanceOf(NotModifiedError);
  });

  it("is rejected before it is sent if its path would be another operation's", async () => {
    server.replaceRequestHandlers(createOkRequestHandler());
    for (const id of ['', '.', '..', undefined as unknown as string]) {
      await expect(async () => client().shipments.get(id)).rejects.toBeInstanceOf(TypeError);
    }
    await client().shipments.get('a/b?c#d');
    expect(server.requests.map(({ url }) => url)).toEqual(['/v1/shipments/a%2Fb%3Fc%23d']);
    expect(() => client({ session: true })).toThrow(TypeError);
    expect(() => client({ baseUrl: 'ftp://x' })).toThrow(TypeError);
    expect(() => client({ baseUrl: 'x' })).toThrow(TypeError);
  });
});
