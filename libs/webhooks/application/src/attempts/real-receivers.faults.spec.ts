import { jest } from '@jest/globals';
import { createOutboundHttp } from '@tracking/outbound-http';
import type { OutboundHttp } from '@tracking/ports';
import {
  type RawBehaviour,
  type HttpTestReceiver,
  createCertificateAuthority,
  endlessResponses,
  eventually,
  issueCertificate,
  hostileReceiverBehaviours,
  startReceiver,
} from '@tracking/testing';
import type { RetryPolicy } from '@tracking/webhooks-domain';
import Stripe from 'stripe';
import { type RunningWebhooks, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';

jest.setTimeout(60_000);

const SOON: RetryPolicy = { firstMs: 30, factor: 1, capMs: 30, windowMs: 3_600_000 };
const authority = createCertificateAuthority();
const trusted = issueCertificate({ issuer: authority });

let harness: WebhooksTestHarness;
let webhooks: RunningWebhooks;
let outbound: OutboundHttp;
let open: HttpTestReceiver[];

beforeEach(async () => {
  open = [];
  harness = await WebhooksTestHarness.openWebhooksHarness();
  outbound = createOutboundHttp({ allowedCidrs: ['127.0.0.0/8'], allowHttp: false, ca: authority.cert });
  webhooks = await harness.startWebhooks({ policy: SOON, timeoutMs: 400 }, undefined, outbound);
});
afterEach(async () => {
  await harness.closeWebhooksHarness();
  for (const receiver of open) await receiver.close();
  await outbound.closeOutboundHttp();
});

const verifies: RawBehaviour = (socket, request) => {
  const { data } = JSON.parse(request.body.toString()) as { data: { challenge?: string } };
  return hostileReceiverBehaviours.answers(200, data.challenge ?? 'ok')(socket, request);
};
async function receiver(): Promise<HttpTestReceiver> {
  const started = await startReceiver(verifies, { tls: trusted });
  open.push(started);
  return started;
}

describe('a real HTTPS receiver', () => {
  test('receives verifiable requests over reused connections', async () => {
    const good = await receiver();
    const { id, secret } = await harness.createEnabledEndpoint(webhooks, `${good.origin}/hook`, { max_concurrency: 2 });
    const events = Array.from({ length: 30 }, () => harness.addAcknowledgedEventToLog());
    await harness.publishEventsToBrokerForTest(...events);
    await eventually(async () =>
      expect(await harness.listDeliveries(webhooks, { statuses: ['succeeded'] })).toHaveLength(30),
    );
    expect(good.connections).toBeLessThanOrEqual(3);
    const { webhooks: verifier } = new Stripe('sk_test_unused');
    for (const { headers, body, path, method } of good.requests.slice(1)) {
      expect([method, path]).toEqual(['POST', '/hook']);
      const event = verifier.constructEvent(body, headers['service-signature'] ?? '', secret);
      expect(event.id).toBe(headers['service-event-id']);
    }
    expect(await webhooks.endpoints.get({ ...harness.createSampleWebhookCommand(), endpoint_id: id })).toMatchObject({
      status: 'enabled',
    });
  });

  test.each<[string, RawBehaviour, object, times?: number]>([
    [
      'answers an error',
      hostileReceiverBehaviours.answers(503, 'busy'),
      { status_code: 503, response: { body: 'busy' } },
    ],
    [
      'redirects',
      hostileReceiverBehaviours.redirects('https://elsewhere.example.com/'),
      { error: { code: 'redirect_not_followed' } },
    ],
    ['hangs', hostileReceiverBehaviours.hangs(), { error: { code: 'timeout' } }],
    ['hangs after its headers', hostileReceiverBehaviours.hangsAfterHeaders(), { error: { code: 'timeout' } }],
    ['drips', hostileReceiverBehaviours.drips(), { error: { code: 'timeout' } }],
    [
      'informs without end',
      hostileReceiverBehaviours.floods(endlessResponses.information103),
      { error: { code: 'invalid_response' } },
    ],
    [
      'extends a chunk without end',
      hostileReceiverBehaviours.floods(endlessResponses.chunkExtension),
      { error: { code: 'invalid_response' } },
    ],
    // Twice, because a request dropped by a reused connection is sent once more.
    ['resets', hostileReceiverBehaviours.resets(), { error: { code: 'connection_reset' } }, 2],
    ['lies about its length', hostileReceiverBehaviours.claimsMore(), { error: { code: 'connection_reset' } }],
    [
      'speaks something else',
      hostileReceiverBehaviours.says('SSH-2.0-OpenSSH\r\n'),
      { error: { code: 'invalid_response' } },
    ],
  ])('that %s is retried with the same bytes', async (_, behaviour, expected, times = 1) => {
    const bad = await receiver();
    const { id } = await harness.createEnabledEndpoint(webhooks, `${bad.origin}/hook`);
    let deliveries = 0;
    bad.setReceiverBehaviour((socket, request) => ((deliveries += 1) <= times ? behaviour : verifies)(socket, request));
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    const delivery = await eventually(
      async () => {
        const found = await harness.getDelivery(webhooks, id, event.id);
        expect(found.status).toBe('succeeded');
        return found;
      },
      { deadlineMs: 15_000 },
    );
    expect(delivery.attempts[0]).toMatchObject(expected);
    const bodies = bad.requests.slice(1).map(({ body }) => body.toString());
    expect(new Set(bodies).size).toBe(1);
  });

  test('that answers with a decompression bomb is judged by its status; 16 KiB of the answer are kept', async () => {
    const bad = await receiver();
    const { id } = await harness.createEnabledEndpoint(webhooks, `${bad.origin}/hook`);
    bad.setReceiverBehaviour(hostileReceiverBehaviours.gzipBomb(64));
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    const { attempts } = await eventually(async () => {
      const found = await harness.getDelivery(webhooks, id, event.id);
      expect(found.status).toBe('succeeded');
      return found;
    });
    expect(attempts[0]?.response?.body).toHaveLength(16 * 1024);
  });

  test('with an untrusted certificate receives nothing', async () => {
    const bad = await startReceiver(verifies, { tls: issueCertificate() });
    open.push(bad);
    const created = await webhooks.endpoints.create({
      ...harness.createSampleWebhookCommand(),
      fields: { url: `${bad.origin}/hook`, event_types: ['*'] },
    });
    expect(
      await webhooks.endpoints.verify({ ...harness.createSampleWebhookCommand(), endpoint_id: created.id }),
    ).toMatchObject({
      status: 'pending_verification',
      last_verification: { ok: false, error: { code: 'tls_failed' } },
    });
    expect(bad.requests).toEqual([]);
  });

  test('on a private address is refused when the endpoint is created', async () => {
    const fields = { event_types: ['*'] };
    for (const url of ['https://10.0.0.1/', 'https://[::1]/', 'https://169.254.169.254/latest', 'http://127.0.0.1/']) {
      await expect(
        webhooks.endpoints.create({ ...harness.createSampleWebhookCommand(), fields: { ...fields, url } }),
      ).rejects.toMatchObject({
        details: [{ param: 'url' }],
      });
    }
  });
});
