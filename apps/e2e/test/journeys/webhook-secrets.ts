import { verifyWebhook } from '@tracking/client';
import { eventually, scaleTimeout } from '@tracking/testing';
import { type EndpointWithReceivedDeliveries, EndpointServer } from '../receiver.ts';
import type { SystemUnderTest } from '../subject.ts';
import { createKey, createTestTenant, type TestTenant } from '../tenant.ts';

const LONG_WAIT_OPTIONS = { deadlineMs: 60_000 };
const STANDARD_WEBHOOKS_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

export function declareWebhookSecretTests(subject: () => SystemUnderTest): void {
  describe('signing secrets', () => {
    let tenant: TestTenant;
    let receiver: EndpointServer;
    let hook: EndpointWithReceivedDeliveries;
    beforeEach(async () => {
      tenant = await createTestTenant(subject());
      receiver = await EndpointServer.startEndpointServer();
      hook = await receiver.createEnabledEndpoint(tenant.api, '/hook');
    }, scaleTimeout(30_000));
    afterEach(async () => {
      expect(receiver.faults).toEqual([]);
      await receiver.closeEndpointServer();
    });

    const ask = (action: string, body: object = {}, { api }: Pick<TestTenant, 'api'> = tenant) =>
      api.post(`/v1/webhook_endpoints/${hook.id}/${action}`, body);
    const rotated = async (body?: object): Promise<string> => {
      const { status, data } = await ask('rotate_secret', body);
      expect([status, data.id]).toEqual([200, hook.id]);
      return data.secret;
    };
    /**
     * Creates an event. Returns the number of signatures of its delivery, and the secrets that verify them by Standard
     * Webhooks.
     */
    const signed = async (...secrets: readonly string[]) => {
      const before = new Set(hook.came.keys());
      expect((await tenant.api.post('/v1/shipments', { house_bill: 'SIGNED' })).status).toBe(201);
      const id = await eventually(() => {
        const came = [...hook.came.keys()].find((each) => !before.has(each));
        expect(came).toBeDefined();
        return String(came);
      }, LONG_WAIT_OPTIONS);
      const all = Object.entries(hook.headers.get(id) ?? {});
      const headers = Object.fromEntries(all.filter(([name]) => STANDARD_WEBHOOKS_HEADERS.includes(name))) as Record<
        string,
        string
      >;
      expect(Object.keys(headers)).toHaveLength(3);
      const rawBody = receiver.bodies.get(id) ?? '';
      const tries = secrets.map((secret) => verifyWebhook({ rawBody, headers, secret }).then((event) => event.id));
      const verdicts = (await Promise.allSettled(tries)).map(
        (tried) => tried.status === 'fulfilled' && tried.value === id,
      );
      return [headers['webhook-signature']?.split(' ').length, ...verdicts];
    };

    test(
      'both secrets sign during the overlap of a rotation, afterwards only the new one; an administrator can reveal the valid secrets',
      async () => {
        const [first = ''] = hook.secrets;
        expect(await signed(first)).toEqual([1, true]);

        const second = await rotated();
        // Another replica may send the event. It applies the rotation within a second.
        await eventually(async () => expect(await signed(first, second)).toEqual([2, true, true]), LONG_WAIT_OPTIONS);
        const shown = await ask('reveal_secret');
        expect([shown.status, shown.data]).toEqual([
          200,
          {
            id: hook.id,
            secret: second,
            previous_secrets: [{ secret: first, expires_at: expect.any(String) }],
            warnings: [],
          },
        ]);

        // A receiver accepts both secrets during the rotation.
        hook.secrets.push(second);
        const third = await rotated({ expires_in_seconds: 0 });
        hook.secrets.push(third);
        await eventually(
          async () => expect(await signed(first, second, third)).toEqual([1, false, false, true]),
          LONG_WAIT_OPTIONS,
        );
        expect((await ask('reveal_secret')).data).toMatchObject({ secret: third, previous_secrets: [] });

        const developer = await createKey(subject(), tenant.workspace, 'developer');
        const refused = await ask('reveal_secret', {}, developer);
        expect([refused.status, refused.data.error.code]).toEqual([403, 'permission_denied']);
        const { data } = await tenant.api.get('/v1/audit_log', { params: { limit: 20 } });
        const told = data.data.map(({ type, target }: { type: string; target: { id: string } }) => [type, target.id]);
        expect(told.filter(([type]: readonly string[]) => type?.includes('secret'))).toEqual(
          ['revealed', 'rotated', 'revealed', 'rotated'].map((done) => [`webhook_endpoint.secret_${done}`, hook.id]),
        );
        expect(JSON.stringify(data)).not.toContain('whsec_');
      },
      scaleTimeout(180_000),
    );
  });
}
