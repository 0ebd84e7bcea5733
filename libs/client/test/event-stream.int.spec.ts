import { ConnectionError, TrackingClient, type StreamOptions } from '../src/index.ts';
import { HostileServer, resetConnection, createApiErrorResponder, type RequestHandler } from './hostile-server.ts';

const event = (n: number) => `id: evt_${n}\ndata: {"id":"evt_${n}","type":"shipment.created","data":{}}\n\n`;
const begins =
  (text: string, then: (response: Parameters<RequestHandler>[0]) => void): RequestHandler =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`retry: 1\n\n${text}`, () => then(response));
  };

/** An event stream from a server that ends connections, breaks them, or sends nothing. */
describe('an event stream', () => {
  let server: HostileServer;
  beforeAll(async () => {
    server = await HostileServer.startHostileServer();
  });
  afterAll(() => server.closeHostileServer());

  const stream = (options: StreamOptions = {}) =>
    new TrackingClient({
      baseUrl: server.url,
      apiKey: 'sk_test_1',
      backoff: { first: 1, most: 2 },
      transport: { proxy: false },
    }).events.stream({ type: ['shipment.created', 'shipment.updated'] }, options);
  const asked = () => server.requests.map(({ headers }) => headers['last-event-id']);

  it('continues after its last event when the connection ends, breaks, is refused or sends nothing', async () => {
    server.replaceRequestHandlers(
      begins('id: evt_0\n\n', (response) => response.end()),
      begins(event(1) + event(2) + 'id: evt_3\ndata: {"cut', (response) => response.destroy()),
      createApiErrorResponder(429, 'rate_limit', 'too_many_streams', { 'retry-after': '0' }),
      resetConnection,
      begins(event(3), () => undefined),
      begins(event(4), () => undefined),
    );
    const seen: string[] = [];
    const connections: boolean[] = [];
    const following = stream({ idle: 200, onConnection: (isOpen) => connections.push(isOpen) });
    for await (const { id } of following) {
      seen.push(id);
      expect(following.lastEventId).toBe(id);
      if (id === 'evt_4') break;
    }
    expect(seen).toEqual(['evt_1', 'evt_2', 'evt_3', 'evt_4']);
    expect(asked()).toEqual([undefined, 'evt_0', 'evt_2', 'evt_2', 'evt_2', 'evt_3']);
    expect(connections).toEqual([true, false, true, false, true, false, true, false]);
    expect(server.requests[0]).toMatchObject({
      url: '/v1/events/stream?type=shipment.created%2Cshipment.updated',
      headers: { accept: 'text/event-stream', authorization: 'Bearer sk_test_1' },
    });
  });

  it("throws the API's errors, and fails if no server responds for long", async () => {
    server.replaceRequestHandlers(createApiErrorResponder(400, 'invalid_request', 'validation_failed'));
    const next = (options?: StreamOptions) => stream(options)[Symbol.asyncIterator]().next();
    await expect(next({ lastEventId: 'evt_gone' })).rejects.toMatchObject({ code: 'validation_failed' });
    expect(asked()).toEqual(['evt_gone']);
    server.replaceRequestHandlers(resetConnection);
    await expect(next()).rejects.toBeInstanceOf(ConnectionError);
    expect(server.requests).toHaveLength(21);
  });

  it('ends with its signal, and closes its connection when the loop is left', async () => {
    const reason = new Error('the user has left');
    const controller = new AbortController();
    server.replaceRequestHandlers(begins(event(1), () => undefined));
    const follow = async () => {
      for await (const { id } of stream({ signal: controller.signal })) if (id === 'evt_1') controller.abort(reason);
    };
    await expect(follow()).rejects.toBe(reason);

    const closed = new Promise<void>((resolve) => {
      server.replaceRequestHandlers((response, request) => {
        response.once('close', resolve);
        begins(event(1), () => undefined)(response, request);
      });
    });
    for await (const { id } of stream()) if (id === 'evt_1') break;
    await closed;
  });
});
