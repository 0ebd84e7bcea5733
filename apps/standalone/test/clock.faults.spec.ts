import { jest } from '@jest/globals';
import { eventually, hostileReceiverBehaviours, startReceiver, type HttpTestReceiver } from '@tracking/testing';
import type { AxiosInstance } from 'axios';
import {
  createTestApiClient,
  createKey,
  startStandaloneProcess,
  withTemporaryFolder,
  type StandaloneProcess,
} from './standalone-process.ts';

jest.setTimeout(60_000);

const STEPPING_CLOCK = new URL('stepping-clock.mjs', import.meta.url).href;

/** Returns the challenge to verification requests, and 200 to all others. */
function startClientReceiver(): Promise<HttpTestReceiver> {
  return startReceiver((socket, request) => {
    const { data } = JSON.parse(request.body.toString()) as { data: { challenge?: string } };
    hostileReceiverBehaviours.answers(200, data.challenge ?? '')(socket, request);
  });
}

describe('webhooks on a machine whose clock is set back', () => {
  let server: StandaloneProcess;
  let api: AxiosInstance;
  let receiver: HttpTestReceiver;

  /** Creates a shipment and waits for its acknowledgement. */
  const create = async (external_id: string): Promise<void> => {
    expect((await api.post('/v1/shipments', { external_id })).status).toBe(201);
  };
  const arrived = (): readonly string[] =>
    receiver.requests
      .map(({ body }) => JSON.parse(body.toString()) as { type: string; data: { external_id: string } })
      .filter(({ type }) => type === 'shipment.created')
      .map(({ data }) => data.external_id);

  it('receive acknowledged events created after enabling, and none from before or while disabled', () =>
    withTemporaryFolder(async (folder) => {
      server = await startStandaloneProcess(folder, {
        NODE_OPTIONS: `--import ${STEPPING_CLOCK}`,
        WEBHOOKS_ALLOWED_CIDRS: '127.0.0.0/8',
        WEBHOOKS_ALLOW_HTTP: 'true',
      });
      receiver = await startClientReceiver();
      try {
        api = createTestApiClient(server.url, await createKey(folder, 'test', 'developer'));
        const made = await api.post('/v1/webhook_endpoints', { url: receiver.origin, event_types: ['*'] });
        const change = async (action: string): Promise<void> => {
          expect((await api.post(`/v1/webhook_endpoints/${made.data.id}/${action}`)).status).toBe(200);
        };
        await create('before');
        await change('verify');
        await change('enable');
        server.child.kill('SIGUSR2');
        await create('enabled');
        await change('disable');
        server.child.kill('SIGUSR2');
        await create('disabled');
        await change('enable');
        server.child.kill('SIGUSR2');
        await create('enabled again');
        await eventually(() => expect(arrived().toSorted()).toEqual(['enabled', 'enabled again']), {
          deadlineMs: 20_000,
        });
      } finally {
        await receiver.close();
        await server.stop();
      }
    }));
});

describe('webhooks on a machine whose clock is set by hours', () => {
  const HOUR_MS = 3_600_000;
  const DAYS_MS = 72 * HOUR_MS;
  const settings = (...steps: readonly number[]) => ({
    NODE_OPTIONS: `--import ${STEPPING_CLOCK}?steps=${steps.join(',')}`,
    WEBHOOKS_ALLOWED_CIDRS: '127.0.0.0/8',
    WEBHOOKS_ALLOW_HTTP: 'true',
    WEBHOOKS_RETRY_FIRST: '200ms',
    WEBHOOKS_RETRY_FACTOR: '1',
    WEBHOOKS_RETRY_WINDOW: '30d',
  });
  /** Resolves when deliveries may be answered. Challenges are answered at once. */
  let gate: Promise<unknown>;
  let status: number;
  let receiver: HttpTestReceiver;
  let arrived: string[];

  beforeEach(async () => {
    [gate, status, arrived] = [Promise.resolve(), 200, []];
    receiver = await startReceiver((socket, request) => {
      const { data } = JSON.parse(request.body.toString()) as { data: { challenge?: string; external_id?: string } };
      if (data.challenge !== undefined) return hostileReceiverBehaviours.answers(200, data.challenge)(socket, request);
      arrived.push(data.external_id ?? '');
      void gate.then(() => hostileReceiverBehaviours.answers(status)(socket, request));
    });
  });
  afterEach(() => receiver.close());

  async function enableEndpoint(folder: string, server: StandaloneProcess) {
    const api = createTestApiClient(server.url, await createKey(folder, 'test', 'developer'));
    const made = await api.post('/v1/webhook_endpoints', { url: receiver.origin, event_types: ['shipment.created'] });
    for (const action of ['verify', 'enable']) {
      expect((await api.post(`/v1/webhook_endpoints/${made.data.id}/${action}`)).status).toBe(200);
    }
    return async (...externalIds: readonly string[]): Promise<void> => {
      for (const external_id of externalIds) {
        expect((await api.post('/v1/shipments', { external_id })).status).toBe(201);
      }
    };
  }

  it('sends new events at once after 3 hours forward with attempts in progress', () =>
    withTemporaryFolder(async (folder) => {
      const server = await startStandaloneProcess(folder, settings(3 * HOUR_MS));
      try {
        const create = await enableEndpoint(folder, server);
        const held = Promise.withResolvers<void>();
        gate = held.promise;
        await create('1', '2', '3');
        await eventually(() => expect(arrived).toHaveLength(3), { deadlineMs: 20_000 });
        server.child.kill('SIGUSR2');
        await create('4');
        held.resolve();
        await create('5', '6', '7');
        await eventually(() => expect(new Set(arrived).size).toBe(7), { deadlineMs: 20_000 });
      } finally {
        await server.stop();
      }
    }));

  it.each(['the same', 'the next'])(
    'attempts failing deliveries after 3 days forward and back in %s process',
    (which) =>
      withTemporaryFolder(async (folder) => {
        let server = await startStandaloneProcess(folder, settings(DAYS_MS, -DAYS_MS));
        try {
          const create = await enableEndpoint(folder, server);
          const attempts = (external_id: string) => arrived.filter((each) => each === external_id).length;
          status = 500;
          await create('before');
          await eventually(() => expect(attempts('before')).toBeGreaterThan(1), { deadlineMs: 20_000 });
          server.child.kill('SIGUSR2');
          await create('ahead');
          await eventually(() => expect(attempts('ahead')).toBeGreaterThan(1), { deadlineMs: 20_000 });
          if (which === 'the same') {
            server.child.kill('SIGUSR2');
          } else {
            await server.stop();
            server = await startStandaloneProcess(folder, settings(0));
          }
          const known = { before: attempts('before'), ahead: attempts('ahead') };
          await eventually(
            () => {
              expect(attempts('before')).toBeGreaterThan(known.before + 2);
              expect(attempts('ahead')).toBeGreaterThan(known.ahead + 2);
            },
            { deadlineMs: 20_000 },
          );
        } finally {
          await server.stop();
        }
      }),
  );
});
