import { jest } from '@jest/globals';
import { eventually, receivers, startReceiver, type RawReceiver } from '@tracking/testing';
import type { AxiosInstance } from 'axios';
import {
  createClient,
  createKey,
  startStandalone,
  withTemporaryFolder,
  type StandaloneProcess,
} from './standalone-process.ts';

jest.setTimeout(60_000);

const STEPPING_CLOCK = new URL('stepping-clock.mjs', import.meta.url).href;

/** Returns the challenge to verification requests, and 200 to all others. */
function startClientReceiver(): Promise<RawReceiver> {
  return startReceiver((socket, request) => {
    const { data } = JSON.parse(request.body.toString()) as { data: { challenge?: string } };
    receivers.answers(200, data.challenge ?? '')(socket, request);
  });
}

describe('webhooks on a machine whose clock is set back', () => {
  let server: StandaloneProcess;
  let api: AxiosInstance;
  let receiver: RawReceiver;

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
      server = await startStandalone(folder, {
        NODE_OPTIONS: `--import ${STEPPING_CLOCK}`,
        WEBHOOKS_ALLOWED_CIDRS: '127.0.0.0/8',
        WEBHOOKS_ALLOW_HTTP: 'true',
      });
      receiver = await startClientReceiver();
      try {
        api = createClient(server.url, await createKey(folder, 'test', 'developer'));
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
