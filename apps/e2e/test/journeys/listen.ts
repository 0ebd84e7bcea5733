import { join } from 'node:path';
import { ManagedProcess, type TempFolder, eventually, scaleTimeout, createTempFolder } from '@tracking/testing';
import { LoopbackReceiver } from '../browser/loopback-receiver.ts';
import { REPOSITORY_ROOT, runCliJson, type SystemUnderTest } from '../subject.ts';
import { listAllItems, createTestTenant } from '../tenant.ts';

const LONG_WAIT_OPTIONS = { deadlineMs: 60_000 };

export function declareListenCommandTests(subject: () => SystemUnderTest): void {
  describe('listen', () => {
    let folder: TempFolder;
    /** The developer's own server. */
    let server: LoopbackReceiver;
    let listening: ManagedProcess | undefined;
    beforeEach(async () => {
      folder = await createTempFolder();
      server = await LoopbackReceiver.startLoopbackReceiver();
    });
    afterEach(async () => {
      await listening?.killProcess();
      listening = undefined;
      await server.closeReceiver();
      await folder.remove();
    });

    test(
      "a developer's own server receives events, gets one resent, and no endpoint remains",
      async () => {
        const { key, api } = await createTestTenant(subject());
        const [url = ''] = subject().urls;
        const developer = { ...subject(), operator: { ...subject().operator, API_KEY: key } };
        const line = ['--url', url, '--events', 'shipment.created', '--forward-to', server.url];
        const ends: (number | null)[] = [];
        listening = new ManagedProcess(
          {
            name: 'listen',
            command: process.execPath,
            args: [join(REPOSITORY_ROOT, 'apps/cli/dist/main.js'), 'listen', ...line],
            env: developer.operator,
            ready: /(whe_\S+) forwards to (\S+) [^]* checks signatures with (whsec_\S+)\n/,
            logFile: join(folder.path, 'listen.log'),
          },
          (_name, code) => ends.push(code),
        );
        const [, endpoint = '', forwardedTo, secret = ''] = await listening.startProcess();
        expect(forwardedTo).toBe(server.url);
        expect((await api.get(`/v1/webhook_endpoints/${endpoint}`)).data).toMatchObject({
          status: 'enabled',
          event_types: ['shipment.created'],
        });

        const made = await api.post('/v1/shipments', { external_id: 'LISTENED' });
        expect(made.status).toBe(201);
        const came = () => server.findSignedEvents(secret).map(({ type, data }) => [type, data['shipment_id']]);
        const created = ['shipment.created', made.data.id];
        await eventually(() => expect(came()).toEqual([created]), LONG_WAIT_OPTIONS);
        const [event] = server.findSignedEvents(secret);
        expect(await runCliJson(developer, 'events', 'resend', event?.id ?? '', '--url', url)).toMatchObject({
          endpoint_id: endpoint,
          event_id: event?.id,
          delivery_id: expect.stringMatching(/^dlv_/),
        });
        await eventually(() => expect(came()).toEqual([created, created]), LONG_WAIT_OPTIONS);
        expect(new Set(server.findSignedEvents(secret).map(({ id }) => id))).toEqual(new Set([event?.id]));

        process.kill(Number(listening.pid), 'SIGINT');
        await eventually(() => expect(ends).toEqual([0]), LONG_WAIT_OPTIONS);
        expect((await api.get(`/v1/webhook_endpoints/${endpoint}`)).status).toBe(404);
        expect(await listAllItems(api, '/v1/webhook_endpoints')).toEqual([]);
      },
      scaleTimeout(120_000),
    );
  });
}
