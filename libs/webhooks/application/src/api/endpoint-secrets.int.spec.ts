import { createHmac, randomBytes } from 'node:crypto';
import { jest } from '@jest/globals';
import { eventually } from '@tracking/testing';
import type { ReceivedRequest } from '../../test/fake-receivers.ts';
import {
  type HarnessEndpoint,
  type RunningWebhooks,
  SAMPLE_SCOPE,
  WebhooksTestHarness,
} from '../../test/webhooks-test-harness.ts';

const URL_A = 'https://a.example.com/hook';
const DAY_MS = 86_400_000;

jest.setTimeout(30_000);

let harness: WebhooksTestHarness;
let webhooks: RunningWebhooks;
let endpoint: HarnessEndpoint;

beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
  webhooks = await harness.startWebhooks();
  endpoint = await harness.createEnabledEndpoint(webhooks, URL_A);
});
afterEach(() => harness.closeWebhooksHarness());

const command = (scope = SAMPLE_SCOPE) => ({ ...harness.createSampleWebhookCommand(scope), endpoint_id: endpoint.id });
const rotate = (fields: object = {}) => webhooks.endpoints.rotateSecret({ ...command(), ...fields });
const reveal = (fields: object = {}) => webhooks.endpoints.revealSecret({ ...command(), ...fields });

/** Secrets that signed a request, by our header and by those of Standard Webhooks. */
function signersOf({ headers, body }: ReceivedRequest, secrets: readonly string[]) {
  const mac = (key: string | Buffer, prefix: string) => createHmac('sha256', key).update(prefix).update(body);
  const [time = '', ...ours] = (headers['service-signature'] ?? '').split(',');
  const standard = (headers['webhook-signature'] ?? '').split(' ');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.`;
  expect([time, headers['webhook-id']]).toEqual([`t=${headers['webhook-timestamp']}`, headers['service-event-id']]);
  expect([ours.length, standard.length]).toEqual([secrets.length, secrets.length]);
  const name = (index: number) => (index === -1 ? 'none' : index);
  return [
    ...ours.map((value) =>
      name(secrets.findIndex((key) => value === `v1=${mac(key, `${time.slice(2)}.`).digest('hex')}`)),
    ),
    ...standard.map((value) => {
      const keyed = (secret: string) => mac(Buffer.from(secret.slice(6), 'base64'), signed).digest('base64');
      return name(secrets.findIndex((secret) => value === `v1,${keyed(secret)}`));
    }),
  ];
}

/** The deliveries of an event that is published now. */
async function delivered(): Promise<ReceivedRequest> {
  const before = harness.receivers.arrived.length;
  await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
  return eventually(() => {
    const request = harness.receivers.arrived[before];
    if (request === undefined) throw new Error('nothing came');
    return request;
  });
}

describe('rotating a secret', () => {
  test('returns a new secret; requests are signed with both for a day, then with the new one', async () => {
    const rotated = await rotate();
    expect(rotated).toMatchObject({ id: endpoint.id, status: 'enabled', version: endpoint.version + 1 });
    expect(rotated.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const both = [rotated.secret, endpoint.secret];
    expect(signersOf(await delivered(), both)).toEqual([0, 1, 0, 1]);
    await webhooks.endpoints.verify(command());
    const challenge = harness.receivers.arrived.at(-1);
    expect(challenge?.headers['service-event-type']).toBe('endpoint.verification');
    expect(challenge && signersOf(challenge, both)).toEqual([0, 1, 0, 1]);

    harness.clockOffset += DAY_MS;
    expect(signersOf(await delivered(), [rotated.secret])).toEqual([0, 0]);
    expect(await webhooks.endpoints.get(command())).toMatchObject({ version: rotated.version + 1 });
  });

  test('keeps the old secret valid for the requested time, or not at all', async () => {
    const hour = await rotate({ expires_in_seconds: 3_600 });
    harness.clockOffset += 3_590_000;
    expect(signersOf(await delivered(), [hour.secret, endpoint.secret])).toEqual([0, 1, 0, 1]);
    harness.clockOffset += 10_000;
    expect(signersOf(await delivered(), [hour.secret])).toEqual([0, 0]);
    const last = await rotate({ expires_in_seconds: 0 });
    expect(signersOf(await delivered(), [last.secret])).toEqual([0, 0]);
  });

  test('keeps the old secret valid for the requested time if a repeat carries it out hours later', async () => {
    const late = { ...command(), expires_in_seconds: 3_600 };
    harness.clockOffset += 7_200_000;
    const { secret } = await webhooks.endpoints.rotateSecret(late);
    expect(signersOf(await delivered(), [secret, endpoint.secret])).toEqual([0, 1, 0, 1]);
    harness.clockOffset += 3_600_000;
    expect(signersOf(await delivered(), [secret])).toEqual([0, 0]);
  });

  test('takes effect at the next attempt, also for earlier deliveries', async () => {
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => ({
      kind: 'failure',
      code: 'connection_reset',
      message: '',
      durationMs: 1,
    }));
    await delivered();
    harness.receivers.setFakeReceiverBehaviour(URL_A, (request) => harness.receivers.respondWithOk(request));
    const { secret } = await rotate({ expires_in_seconds: 0 });
    const [delivery] = await eventually(async () => {
      const found = await harness.listDeliveries(webhooks);
      expect(found[0]?.status).toBe('retrying');
      return found;
    });
    await webhooks.deliveries.retry({ ...harness.createSampleWebhookCommand(), delivery_id: delivery?.id ?? '' });
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(2));
    const request = harness.receivers.arrived.at(-1);
    expect(request && signersOf(request, [secret])).toEqual([0, 0]);
  });

  test('repeated answers the same secret and changes nothing, also after other changes', async () => {
    const first = command();
    const answers = await Promise.all([1, 2, 3].map(() => webhooks.endpoints.rotateSecret(first)));
    expect(new Set(answers.map(({ secret, version }) => `${secret} ${version}`)).size).toBe(1);
    const next = await rotate();
    await webhooks.endpoints.change({ ...command(), fields: { description: 'other' } });
    const again = await webhooks.endpoints.rotateSecret({ ...first, expected_versions: [endpoint.version] });
    expect(again).toMatchObject({ secret: answers[0]?.secret, description: 'other' });
    expect((await reveal()).secret).toBe(next.secret);
    expect((await reveal()).previous_secrets).toHaveLength(2);
  });

  test('requires an expected version to match', async () => {
    const stale = { expected_versions: [endpoint.version + 1] };
    await expect(rotate(stale)).rejects.toMatchObject({ code: 'precondition_failed', version: endpoint.version });
    expect((await reveal()).secret).toBe(endpoint.secret);
  });

  test('loses no secret if requested concurrently in two processes; the newest five are valid', async () => {
    const other = await harness.startWebhooks();
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) => (n % 2 === 0 ? webhooks : other).endpoints.rotateSecret(command())),
    );
    const all = [endpoint.secret, ...answers.map(({ secret }) => secret)];
    const shown = async () => {
      const { secret, previous_secrets } = await reveal();
      return [secret, ...previous_secrets.map((previous) => previous.secret)];
    };
    expect((await shown()).sort()).toEqual(all.sort());
    const { secret } = await rotate();
    const five = await shown();
    expect([five.length, five[0], five.includes(endpoint.secret)]).toEqual([5, secret, false]);
    expect(new Set(signersOf(await delivered(), five)).size).toBe(5);
  });

  test('finds no endpoint of another workspace and no deleted endpoint', async () => {
    const elsewhere = command({ ...SAMPLE_SCOPE, environment: 'test' });
    for (const { rotateSecret, revealSecret } of [webhooks.endpoints]) {
      await expect(rotateSecret.call(webhooks.endpoints, elsewhere)).rejects.toMatchObject({ code: 'not_found' });
      await expect(revealSecret.call(webhooks.endpoints, elsewhere)).rejects.toMatchObject({ code: 'not_found' });
    }
    await webhooks.endpoints.remove(command());
    await expect(rotate()).rejects.toMatchObject({ code: 'not_found' });
    await expect(reveal()).rejects.toMatchObject({ code: 'not_found' });
  });

  test('makes an endpoint usable again whose secret was stored under a lost key', async () => {
    await webhooks.endpoints.change({ ...command(), fields: { headers: { 'x-key': 'one' } } });
    await webhooks.stop();
    harness.secretsKey = randomBytes(32);
    webhooks = await harness.startWebhooks();
    await expect(reveal()).rejects.toMatchObject({ code: 'secret_unreadable' });
    const { secret } = await rotate();
    await expect(webhooks.endpoints.verify(command())).rejects.toMatchObject({ code: 'secret_unreadable' });
    await webhooks.endpoints.change({ ...command(), fields: { headers: { 'x-key': 'two' } } });
    await webhooks.endpoints.verify(command());
    const request = harness.receivers.arrived.at(-1);
    expect(request?.headers['x-key']).toBe('two');
    expect(request && signersOf(request, [secret])).toEqual([0, 0]);
    expect(await reveal()).toEqual({ id: endpoint.id, secret, previous_secrets: [] });
  });
});

describe('revealing the secrets', () => {
  test('returns the valid secrets and their expiry', async () => {
    expect(await reveal()).toEqual({ id: endpoint.id, secret: endpoint.secret, previous_secrets: [] });
    const { secret, version } = await rotate({ expires_in_seconds: 60 });
    const { previous_secrets, ...shown } = await reveal();
    expect(shown).toEqual({ id: endpoint.id, secret });
    expect(previous_secrets).toEqual([{ secret: endpoint.secret, expires_at: expect.any(String) }]);
    expect(Date.parse(previous_secrets[0]?.expires_at ?? '') - Date.parse(harness.now())).toBeLessThanOrEqual(60_000);
    harness.clockOffset += 60_000;
    expect(await reveal()).toEqual({ id: endpoint.id, secret, previous_secrets: [] });
    expect(await webhooks.endpoints.get(command())).toMatchObject({ version });
  });

  test('is the only way to read secrets, which are stored encrypted', async () => {
    const { secret } = await rotate();
    const shown = [
      await webhooks.endpoints.get(command()),
      await webhooks.endpoints.list({ ...SAMPLE_SCOPE, limit: 50 }),
    ];
    expect(JSON.stringify(shown)).not.toContain('whsec_');
    const stored = await harness.engine.documentStore.collection({ name: 'webhook_endpoints', indexes: [] });
    const text = JSON.stringify(await stored.find({ filter: {}, limit: 10 })) + JSON.stringify(harness.lines);
    for (const each of [secret, endpoint.secret]) expect(text).not.toContain(each.slice(8, 40));
  });
});
