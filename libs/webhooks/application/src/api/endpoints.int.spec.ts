import { jest } from '@jest/globals';
import type { DocumentStore } from '@tracking/ports';
import { eventually, delayStoreReads } from '@tracking/testing';
import { storeDeadLetters } from '../../test/dead-letters.ts';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import type { WorkspaceScope } from '../operation-types.ts';

describe('endpoints', () => {
  const URL_A = 'https://a.example.com/hook';

  jest.setTimeout(30_000);

  let harness: WebhooksTestHarness;
  let webhooks: RunningWebhooks;

  beforeEach(async () => {
    harness = await WebhooksTestHarness.openWebhooksHarness();
    webhooks = await harness.startWebhooks();
  });
  afterEach(() => harness.closeWebhooksHarness());

  const create = (fields: object = {}, scope: WorkspaceScope = SAMPLE_SCOPE) =>
    webhooks.endpoints.create({
      ...harness.createSampleWebhookCommand(scope),
      fields: { url: URL_A, event_types: ['*'], ...fields },
    });
  const on = (endpoint_id: string, scope: WorkspaceScope = SAMPLE_SCOPE) => ({
    ...harness.createSampleWebhookCommand(scope),
    endpoint_id,
  });

  describe('creating an endpoint', () => {
    test('sends nothing, and returns the secret once', async () => {
      const created = await create({ description: 'Ours' });
      expect(created).toMatchObject({
        id: expect.stringMatching(/^whe_/) as string,
        url: URL_A,
        event_types: ['*'],
        description: 'Ours',
        api_version: '2026-11-01',
        environment: 'live',
        status: 'pending_verification',
        disabled_reason: null,
        last_verification: null,
        headers: {},
        max_concurrency: 16,
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) as string,
      });
      expect(await webhooks.endpoints.get(on(created.id))).not.toHaveProperty('secret');
      expect(JSON.stringify(await webhooks.endpoints.list({ ...SAMPLE_SCOPE, limit: 50 }))).not.toContain('whsec_');
      expect(harness.receivers.arrived).toEqual([]);
    });

    test('reports all invalid fields at once', async () => {
      const fields = { url: 'http://a.example.com', event_types: [], max_concurrency: 0 };
      await expect(create(fields)).rejects.toMatchObject({
        code: 'validation_failed',
        details: [{ param: 'url' }, { param: 'event_types' }, { param: 'max_concurrency' }],
      });
    });

    test.each(['https://user:pass@a.example.com/', 'https://a.example.com/#part', 'nonsense', 'ftp://a.example.com/'])(
      'refuses the URL %s',
      async (url) => {
        await expect(create({ url })).rejects.toMatchObject({ details: [{ param: 'url', code: 'invalid_value' }] });
      },
    );

    test('creates one endpoint if repeated, and returns the same response', async () => {
      const command = { ...harness.createSampleWebhookCommand(), fields: { url: URL_A, event_types: ['*'] } };
      const answers = await Promise.all([1, 2, 3].map(() => webhooks.endpoints.create(command)));
      expect(new Set(answers.map(({ secret }) => secret)).size).toBe(1);
      expect((await webhooks.endpoints.list({ ...SAMPLE_SCOPE, limit: 50 })).items).toHaveLength(1);
    });

    test('is limited to fifty endpoints in each environment, also concurrently', async () => {
      const outcomes = await Promise.allSettled(Array.from({ length: 60 }, () => create()));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(50);
      await expect(create()).rejects.toMatchObject({ code: 'limit_exceeded' });
      await create({}, { ...SAMPLE_SCOPE, environment: 'test' });
      const { items } = await webhooks.endpoints.list({ ...SAMPLE_SCOPE, limit: 1 });
      await webhooks.endpoints.remove(on(items[0]?.id ?? ''));
      await create();
    });

    test('stores no secret unencrypted', async () => {
      const { secret } = await create({ headers: { authorization: 'Bearer very-secret' } });
      const stored = await harness.engine.documentStore.collection({ name: 'webhook_endpoints', indexes: [] });
      const text = JSON.stringify(await stored.find({ filter: {}, limit: 10 }));
      expect(text).not.toContain(secret);
      expect(text).not.toContain('very-secret');
    });
  });

  describe('an endpoint', () => {
    test('is not accessible from other scopes', async () => {
      const { id } = await create();
      for (const scope of [
        { ...SAMPLE_SCOPE, workspace_id: 'wsp_two' },
        { ...SAMPLE_SCOPE, environment: 'test' as const },
      ]) {
        const request = on(id, scope);
        const { endpoints } = webhooks;
        const calls = [
          () => endpoints.get(request),
          () => endpoints.verify(request),
          () => endpoints.enable(request),
          () => endpoints.disable(request),
          () => endpoints.remove(request),
        ];
        for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'not_found' });
        await expect(endpoints.change({ ...request, fields: {} })).rejects.toMatchObject({ code: 'not_found' });
        await expect(endpoints.test({ ...request, type: 'shipment.created' })).rejects.toMatchObject({
          code: 'not_found',
        });
        expect((await endpoints.list({ ...scope, limit: 10 })).items).toEqual([]);
      }
    });

    test('is listed newest first, page by page', async () => {
      const ids: string[] = [];
      for (let n = 0; n < 5; n += 1) {
        harness.clockOffset += 1_000;
        ids.push((await create()).id);
      }
      const seen: string[] = [];
      let after: readonly string[] | null = [];
      while (after !== null) {
        const page = await webhooks.endpoints.list({
          ...SAMPLE_SCOPE,
          limit: 2,
          ...(after.length > 0 ? { after } : {}),
        });
        seen.push(...page.items.map(({ id }) => id));
        after = page.next;
      }
      expect(seen).toEqual(ids.reverse());
    });

    test('returns masked headers, and keeps a value whose mask is sent back', async () => {
      const { id } = await create({ headers: { 'X-Key': 'one', 'X-Other': 'two' } });
      const shown = await webhooks.endpoints.get(on(id));
      expect(shown.headers).toEqual({ 'x-key': '********', 'x-other': '********' });
      await webhooks.endpoints.change({
        ...on(id),
        fields: { headers: { 'x-key': '********', 'x-new': 'three' } },
      });
      await webhooks.endpoints.verify(on(id));
      const [request] = harness.receivers.arrived;
      expect(request?.headers).toMatchObject({ 'x-key': 'one', 'x-new': 'three' });
      expect(request?.headers).not.toHaveProperty('x-other');
    });

    test.each(['https://b.example.com/hook', 'https://a.example.com:8443/hook'])(
      'sends no stored header to %s',
      async (url) => {
        const { id } = await create({ headers: { authorization: 'Bearer of-an-admin', 'x-key': 'one' } });
        await webhooks.endpoints.change({ ...on(id), fields: { url } });
        const headers = { authorization: '********', 'X-Key': 'mine' };
        const changed = await webhooks.endpoints.change({ ...on(id), fields: { url, headers } });
        expect(changed.headers).toEqual({ 'x-key': '********' });
        await webhooks.endpoints.change({ ...on(id), fields: { url: URL_A } });
        await webhooks.endpoints.verify(on(id));
        expect(harness.receivers.arrived.at(-1)?.headers).not.toHaveProperty('authorization');
        expect(harness.receivers.arrived.at(-1)?.headers).not.toHaveProperty('x-key');
      },
    );

    test('sends headers to another host if their values are sent with its URL', async () => {
      const { id } = await create({ headers: { authorization: 'one', 'x-key': 'two' } });
      const url = 'https://b.example.com/hook';
      const headers = { authorization: 'three', 'x-key': '********' };
      const changed = await webhooks.endpoints.change({ ...on(id), fields: { url, headers } });
      expect(changed.headers).toEqual({ authorization: '********' });
      await webhooks.endpoints.verify(on(id));
      expect(harness.receivers.arrived.at(-1)?.headers).toMatchObject({ authorization: 'three' });
    });

    test('keeps headers if only the path of the URL changes', async () => {
      const { id } = await create({ headers: { authorization: 'one' } });
      await webhooks.endpoints.change({ ...on(id), fields: { url: 'https://A.example.com:443/other?x=1' } });
      await webhooks.endpoints.verify(on(id));
      expect(harness.receivers.arrived.at(-1)?.headers).toMatchObject({ authorization: 'one' });
    });

    test('keeps fields that a change does not name', async () => {
      const { id } = await create({ description: 'Ours', event_types: ['shipment.created'] });
      const changed = await webhooks.endpoints.change({
        ...on(id),
        fields: { max_concurrency: 3, description: null },
      });
      expect(changed).toMatchObject({
        max_concurrency: 3,
        description: null,
        event_types: ['shipment.created'],
        url: URL_A,
      });
      await expect(webhooks.endpoints.change({ ...on(id), fields: { url: 'x' } })).rejects.toMatchObject({
        details: [{ param: 'url' }],
      });
    });

    test('is not found after its deletion', async () => {
      const { id } = await create();
      expect(await webhooks.endpoints.remove(on(id))).toEqual({ id, deleted: true });
      await expect(webhooks.endpoints.get(on(id))).rejects.toMatchObject({ code: 'not_found' });
      await expect(webhooks.endpoints.remove(on(id))).rejects.toMatchObject({ code: 'not_found' });
    });
  });

  describe('verifying', () => {
    test('sends a signed challenge and accepts its token as the answer', async () => {
      const { id } = await create();
      const verified = await webhooks.endpoints.verify(on(id));
      expect(verified).toMatchObject({ status: 'verified', last_verification: { ok: true, error: null } });
      const [request] = harness.receivers.arrived;
      const body = JSON.parse(request?.body ?? '') as Record<string, unknown>;
      expect(body).toEqual({
        id: expect.stringMatching(/^evt_/) as string,
        type: 'endpoint.verification',
        created_at: expect.any(String) as string,
        api_version: '2026-11-01',
        data: { challenge: expect.any(String) as string },
      });
      expect(request?.headers).toMatchObject({
        'content-type': 'application/json',
        'service-signature': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/) as string,
        'service-event-id': body['id'],
        'service-event-type': 'endpoint.verification',
      });
    });

    test.each([
      [
        'the wrong token',
        () => createReceiverAnswer(200, {}, 'nope'),
        'challenge_mismatch',
        'The endpoint answered 200 with "nope" instead of',
      ],
      [
        'a long answer',
        () => createReceiverAnswer(200, {}, 'x'.repeat(201)),
        'challenge_mismatch',
        `with "${'x'.repeat(200)}…" instead of`,
      ],
      [
        'no token',
        () => createReceiverAnswer(204),
        'challenge_mismatch',
        'The endpoint answered 204 with an empty body instead of the token',
      ],
      [
        'an error',
        () => createReceiverAnswer(500, {}, ' \u0000\u001b[31mNo\r\n\u202esuch\u0085 "table" '),
        'unexpected_status',
        'The endpoint answered 500. The answer has the body "[31mNo such \\"table\\"".',
      ],
      ['an empty error', () => createReceiverAnswer(503), 'unexpected_status', '503. The answer has an empty body.'],
      ['a redirect', () => createReceiverAnswer(302), 'redirect_not_followed', '302'],
      [
        'nothing',
        () => ({ kind: 'failure', code: 'timeout', message: 'late', durationMs: 1 }) as const,
        'timeout',
        'late',
      ],
    ])('fails by %s, and reports the reason', async (_, behaviour, code, message) => {
      const { id } = await create();
      harness.receivers.setFakeReceiverBehaviour(URL_A, behaviour);
      expect(await webhooks.endpoints.verify(on(id))).toMatchObject({
        status: 'pending_verification',
        last_verification: { ok: false, error: { code, message: expect.stringContaining(message) as string } },
      });
      await expect(webhooks.endpoints.enable(on(id))).rejects.toMatchObject({ code: 'endpoint_not_verified' });
    });

    test('reports an answer without the secrets of the request', async () => {
      const { id, secret } = await create({ headers: { authorization: 'Bearer s3cret' } });
      let token = '';
      harness.receivers.setFakeReceiverBehaviour(URL_A, ({ body }) => {
        token = (JSON.parse(body) as { data: { challenge: string } }).data.challenge;
        return createReceiverAnswer(401, {}, `Bearer s3cret is wrong for ${token}, ${secret}`);
      });
      const { last_verification } = await webhooks.endpoints.verify(on(id));
      const message = last_verification?.error?.message ?? '';
      expect(message).toContain('"******** is wrong for ********, ********"');
      for (const hidden of ['s3cret', token, secret]) expect(message).not.toContain(hidden);
    });

    test.each([
      ['without its scheme', { authorization: 'Bearer s3cret' }, '{"error":"unknown token s3cret"}'],
      ['in JSON', { 'x-key': 's3"cret\\' }, '{"x-key":"s3\\"cret\\\\"}'],
      ['that begins with another one', { 'x-one': 'open', 'x-two': 'open-s3cret' }, 'wrong: open-s3cret'],
      ['of a decoded user', { authorization: `Basic ${btoa('jo:s3cret')}` }, 'wrong password s3cret of jo:s3cret'],
      ['in a URL', { 'x-key': 's3cret/+&=' }, '?key=s3cret%2F%2B%26%3D'],
    ])('masks a secret %s', async (_, headers, answered) => {
      const { id } = await create({ headers });
      harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(401, {}, answered));
      const { last_verification } = await webhooks.endpoints.verify(on(id));
      const message = last_verification?.error?.message ?? '';
      expect(message).toContain('********');
      expect(message).not.toMatch(/s3|cret/);
    });

    test('does not apply to a URL that was set in the meantime', async () => {
      const { id } = await create();
      harness.receivers.setFakeReceiverBehaviour(URL_A, async (request) => {
        await webhooks.endpoints.change({ ...on(id), fields: { url: 'https://b.example.com/' } });
        return harness.receivers.respondWithOk(request);
      });
      expect(await webhooks.endpoints.verify(on(id))).toMatchObject({
        url: 'https://b.example.com/',
        status: 'pending_verification',
        last_verification: null,
      });
    });
  });

  describe('testing', () => {
    test('sends one sandbox event to an endpoint, subscribed or not, enabled or not', async () => {
      const { id } = await create({ event_types: ['document.approved'] });
      await expect(webhooks.endpoints.test({ ...on(id), type: 'milestone.recorded' })).rejects.toMatchObject({
        code: 'endpoint_not_verified',
      });
      await webhooks.endpoints.verify(on(id));
      const sent = await webhooks.endpoints.test({ ...on(id), type: 'milestone.recorded' });
      expect(sent).toMatchObject({
        endpoint_id: id,
        event_type: 'milestone.recorded',
        status: 'pending',
        sandbox: true,
      });
      const done = await eventually(async () => {
        const delivery = await webhooks.deliveries.get({ scopes: [SAMPLE_SCOPE], delivery_id: sent.id });
        expect(delivery.status).toBe('succeeded');
        return delivery;
      });
      expect(done).toMatchObject({ payload: { sandbox: true, type: 'milestone.recorded' }, attempts: [{ number: 1 }] });
      expect(JSON.parse(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)[0]?.body ?? '')).toEqual(done.payload);
      await webhooks.endpoints.enable(on(id));
      await webhooks.endpoints.disable(on(id));
      await webhooks.endpoints.test({ ...on(id), type: 'shipment.created' });
      await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(2));
    });

    test('and verification are part of the requesting trace', async () => {
      const trace = '0af7651916cd43dd8448eb211c80319c';
      const origin = { request_id: 'req_1', traceparent: `00-${trace}-b7ad6b7169203331-01` };
      const { id } = await create();
      await webhooks.endpoints.verify({ ...on(id), origin });
      await webhooks.endpoints.test({ ...on(id), origin, type: 'shipment.created' });
      const traces = () => harness.receivers.arrived.map(({ headers }) => headers['traceparent']?.split('-')[1]);
      await eventually(() => expect(traces()).toEqual([trace, trace]));
    });

    test('makes one attempt without retries, and does not affect the endpoint', async () => {
      const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
      harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(410));
      const sent = await webhooks.endpoints.test({ ...on(id), type: 'shipment.created' });
      await eventually(async () =>
        expect(await webhooks.deliveries.get({ scopes: [SAMPLE_SCOPE], delivery_id: sent.id })).toMatchObject({
          status: 'discarded',
          next_attempt_at: null,
          attempts_count: 1,
          last_error: { code: 'unexpected_status' },
        }),
      );
      expect(await webhooks.endpoints.get(on(id))).toMatchObject({ status: 'enabled' });
    });

    test('sends one event if repeated', async () => {
      const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
      const command = { ...on(id), type: 'shipment.created' };
      const [one, two] = await Promise.all([webhooks.endpoints.test(command), webhooks.endpoints.test(command)]);
      expect(two.id).toBe(one.id);
      await eventually(async () => expect((await harness.listDeliveries(webhooks))[0]?.status).toBe('succeeded'));
      expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(1);
    });

    test('refuses unknown types', async () => {
      const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
      await expect(webhooks.endpoints.test({ ...on(id), type: 'endpoint.verification' })).rejects.toMatchObject({
        code: 'validation_failed',
        details: [{ param: 'type', code: 'invalid_value' }],
      });
    });
  });

  describe('a command that expects a version', () => {
    const failed = (version: number) => ({ code: 'precondition_failed', version });

    test('changes the endpoint only at that version', async () => {
      const { endpoints } = webhooks;
      const { id, version } = await create();
      expect(version).toBe(1);
      const { version: changed } = await endpoints.change({ ...on(id), fields: { max_concurrency: 2 } });
      expect(changed).toBe(2);
      const stale = { ...on(id), expected_versions: [version] };
      for (const call of [
        () => endpoints.change({ ...stale, fields: { max_concurrency: 3 } }),
        () => endpoints.verify(stale),
        () => endpoints.enable(stale),
        () => endpoints.disable(stale),
        () => endpoints.remove(stale),
      ]) {
        await expect(call()).rejects.toMatchObject(failed(changed));
      }
      expect(await endpoints.get(on(id))).toMatchObject({
        max_concurrency: 2,
        version: changed,
        status: 'pending_verification',
      });
      expect(harness.receivers.arrived).toEqual([]);

      const verified = await endpoints.verify({ ...on(id), expected_versions: [1, changed] });
      const enabled = await endpoints.enable({ ...on(id), expected_versions: [verified.version] });
      expect(enabled).toMatchObject({ status: 'enabled', version: verified.version + 1 });
      const disabled = await endpoints.disable({ ...on(id), expected_versions: 'any' });
      await endpoints.remove({ ...on(id), expected_versions: [disabled.version] });
      await expect(endpoints.disable({ ...on(id), expected_versions: [1] })).rejects.toMatchObject({
        code: 'not_found',
      });
    });

    test('is carried out once out of fifty concurrent ones in two processes', async () => {
      const others = await harness.startWebhooks();
      const { id, version } = await create();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 50 }, (_, n) =>
          (n % 2 === 0 ? webhooks : others).endpoints.change({
            ...on(id),
            expected_versions: [version],
            fields: { max_concurrency: n + 1 },
          }),
        ),
      );
      const written = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
      expect(written).toEqual([await webhooks.endpoints.get(on(id))]);
      const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as object] : []));
      expect(refusals).toHaveLength(49);
      for (const refusal of refusals) expect(refusal).toMatchObject(failed(version + 1));
    });

    test('changes nothing if repeated, and is not refused', async () => {
      const { id, version } = await create();
      const change = { ...on(id), expected_versions: [version], fields: { max_concurrency: 2 } };
      const changed = await webhooks.endpoints.change(change);
      expect(await webhooks.endpoints.change(change)).toEqual(changed);
      const verify = { ...on(id), expected_versions: [changed.version] };
      const verified = await webhooks.endpoints.verify(verify);
      expect(await webhooks.endpoints.verify(verify)).toEqual(verified);
      expect(harness.receivers.arrived).toHaveLength(1);
    });

    test('does not verify an endpoint that changed during the challenge', async () => {
      const { id, version } = await create();
      harness.receivers.setFakeReceiverBehaviour(URL_A, async (request) => {
        await webhooks.endpoints.change({ ...on(id), fields: { max_concurrency: 2 } });
        return harness.receivers.respondWithOk(request);
      });
      const verifying = webhooks.endpoints.verify({ ...on(id), expected_versions: [version] });
      await expect(verifying).rejects.toMatchObject(failed(version + 1));
      expect(await webhooks.endpoints.get(on(id))).toMatchObject({ status: 'pending_verification' });
    });

    test('is refused for a delivery after another attempt, and a repeat requests no second attempt', async () => {
      const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
      const { deliveries } = webhooks;
      const sent = await webhooks.endpoints.test({ ...on(id), type: 'shipment.created' });
      const read = () => deliveries.get({ scopes: [SAMPLE_SCOPE], delivery_id: sent.id });
      const attempted = async (count: number) =>
        eventually(async () => {
          const delivery = await read();
          expect(delivery).toMatchObject({ attempts_count: count, status: 'succeeded' });
          return delivery;
        });
      const first = await attempted(1);
      expect(first.version).toBeGreaterThan(sent.version);
      const about = { delivery_id: sent.id, expected_versions: [sent.version] };
      for (const call of [deliveries.retry.bind(deliveries), deliveries.discard.bind(deliveries)]) {
        await expect(call({ ...harness.createSampleWebhookCommand(), ...about })).rejects.toMatchObject(
          failed(first.version),
        );
      }
      const retry = {
        ...harness.createSampleWebhookCommand(),
        delivery_id: sent.id,
        expected_versions: [first.version],
      };
      await deliveries.retry(retry);
      const second = await attempted(2);
      expect(await deliveries.retry(retry)).toMatchObject({ id: sent.id, version: second.version });
      expect(await read()).toEqual(second);
      expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(2);
    });
  });
});

describe('conflicts', () => {
  /** As many concurrent requests for one resource as a busy client sends. */
  const REQUESTS = Array.from({ length: 8 }, (_, index) => index);

  class LaggingProcess extends SimulatedKillableProcess {
    override wrapDocumentStoreWithFaults(store: DocumentStore): DocumentStore {
      return super.wrapDocumentStoreWithFaults(delayStoreReads(store));
    }
  }

  let harness: WebhooksTestHarness;
  let webhooks: RunningWebhooks;
  beforeEach(async () => {
    harness = await WebhooksTestHarness.openWebhooksHarness();
    // Only answers, so that nothing but the requests changes stored data.
    webhooks = await harness.startWebhooks({}, new LaggingProcess(), harness.receivers, true);
  });
  afterEach(() => harness.closeWebhooksHarness());

  describe('concurrent requests are all carried out', () => {
    test('for one endpoint', async () => {
      const { id, version } = await harness.createEnabledEndpoint(webhooks, 'https://a.example.com/hook');
      await Promise.all(
        REQUESTS.map((index) => {
          const fields = { description: `the ${index}th` };
          return webhooks.endpoints.change({ ...harness.createSampleWebhookCommand(), endpoint_id: id, fields });
        }),
      );
      const endpoint = await webhooks.endpoints.get({ ...harness.createSampleWebhookCommand(), endpoint_id: id });
      expect(endpoint.version).toBe(version + REQUESTS.length);
    });

    test('for one delivery or one replay', async () => {
      const { id: endpoint_id } = await harness.createEnabledEndpoint(webhooks, 'https://a.example.com/hook');
      const [dead] = await storeDeadLetters(harness, 1, { endpoint_id });
      const replay = await webhooks.replays.create({
        ...harness.createSampleWebhookCommand(),
        endpoint_id,
        filter: { statuses: ['missed'] },
      });
      const discard = () =>
        webhooks.deliveries.discard({ ...harness.createSampleWebhookCommand(), delivery_id: dead?.id ?? '' });
      const cancel = () => webhooks.replays.cancel({ ...harness.createSampleWebhookCommand(), replay_id: replay.id });
      // With fewer requests, a refused one repeats more often before reads show the other one's write.
      expect(await Promise.all([discard(), discard()])).toMatchObject([
        { status: 'discarded' },
        { status: 'discarded' },
      ]);
      expect(await Promise.all([cancel(), cancel()])).toMatchObject([{ status: 'canceled' }, { status: 'canceled' }]);
    });
  });
});
