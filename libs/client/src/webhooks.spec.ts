import { createHmac } from 'node:crypto';
import {
  verifyWebhook,
  WebhookFormError,
  WebhookSignatureError,
  WebhookTimestampError,
  type WebhookToVerify,
} from './index.ts';

const key = Buffer.alloc(32, 3);
const secret = `whsec_${key.toString('base64')}`;
const rawBody = '{"id":"evt_1","type":"shipment.created","data":{"shipment_id":"shp_1","note":"größer 港"}}';
const t = 1_793_000_000;
const now = new Date(t * 1_000);

const sign = (by = secret, at = t, body = rawBody) => createHmac('sha256', by).update(`${at}.${body}`).digest('hex');
const ours = (value = sign(), at = t) => ({ 'service-signature': `t=${at},v1=${value}` });
const standard = (by: Uint8Array = key, at = t, body = rawBody) => ({
  'webhook-id': 'evt_1',
  'webhook-timestamp': String(at),
  'webhook-signature': `v1,${createHmac('sha256', by).update(`evt_1.${at}.${body}`).digest('base64')}`,
});
const verify = (differing: Partial<WebhookToVerify>) =>
  verifyWebhook({ rawBody, headers: ours(), secret, now, ...differing });

describe('verifyWebhook', () => {
  it.each<[string, Partial<WebhookToVerify>]>([
    ['our signature', {}],
    ['that of Standard Webhooks', { headers: standard() }],
    ['bytes', { rawBody: Buffer.from(rawBody) }],
    ['an ArrayBuffer', { rawBody: new TextEncoder().encode(rawBody).buffer }],
    ['headers of fetch', { headers: new Headers(ours()) }],
    ['headers in another case', { headers: { 'Service-Signature': ours()['service-signature'] } }],
    ['a header that came as an array', { headers: { 'service-signature': [ours()['service-signature']] } }],
    ['one of several signatures', { headers: ours(`${sign('whsec_old')},v1=${sign()}`) }],
    [
      'one of several of Standard Webhooks',
      {
        headers: {
          ...standard(),
          'webhook-signature': `v1a,x v1,${key.toString('base64')} ${standard()['webhook-signature']}`,
        },
      },
    ],
    ['one of several secrets', { secret: ['whsec_other', secret] }],
    ['the last second of the tolerance', { headers: ours(sign(secret, t - 300), t - 300) }],
    ['a longer tolerance', { headers: ours(sign(secret, t - 900), t - 900), tolerance: 900 }],
  ])('accepts %s', async (_what, differing) => {
    const event = await verify(differing);
    expect(event).toEqual(JSON.parse(rawBody));
    if (event.type === 'shipment.created') expect(event.data.shipment_id).toBe('shp_1');
  });

  it.each<[string, Partial<WebhookToVerify>]>([
    ['another secret', { secret: 'whsec_other' }],
    ['another body', { rawBody: rawBody.replace('shp_1', 'shp_2') }],
    ['a body that was parsed and written again', { rawBody: JSON.stringify(JSON.parse(rawBody), null, 1) }],
    ['another time than was signed', { headers: ours(sign(), t + 1) }],
    ['half a signature', { headers: ours(sign().slice(0, 32)) }],
    ['a key of another', { headers: standard(Buffer.alloc(32, 4)) }],
    ['another id', { headers: { ...standard(), 'webhook-id': 'evt_2' } }],
    ['the secret as text where it is a key', { headers: standard(Buffer.from(secret)) }],
    ['a secret that is no key', { headers: standard(), secret: 'whsec_!' }],
    // Service-Signature takes precedence: if it is invalid, a valid Standard Webhooks signature does not count.
    ['our signature where the other one fits', { headers: { ...standard(), ...ours(sign('whsec_other')) } }],
  ])('rejects %s', async (_what, differing) => {
    await expect(verify(differing)).rejects.toBeInstanceOf(WebhookSignatureError);
  });

  it.each([-301, 301, -86_400])('rejects a signature made %i seconds from now', async (seconds) => {
    const at = t + seconds;
    await expect(verify({ headers: ours(sign(secret, at), at) })).rejects.toBeInstanceOf(WebhookTimestampError);
    await expect(verify({ headers: standard(key, at) })).rejects.toBeInstanceOf(WebhookTimestampError);
  });

  it.each(['', 't=,v1=', 'v1=00', `t=${t}`, 't=abc,v1=00', `t=${t},v1=zz`, 'nonsense'])(
    'reports %p as malformed',
    async (header) => {
      await expect(verify({ headers: { 'service-signature': header } })).rejects.toBeInstanceOf(WebhookFormError);
    },
  );

  it('reports a missing signature, and a body that is not an event', async () => {
    await expect(verify({ headers: {} })).rejects.toBeInstanceOf(WebhookFormError);
    for (const body of ['', 'not JSON', 'null', '[]', '"text"', '{"type":"x"}', '{"type":"x","data":null}']) {
      const told = verify({ rawBody: body, headers: ours(sign(secret, t, body)) });
      await expect(told).rejects.toMatchObject({ name: 'WebhookFormError' });
    }
  });

  it('throws without a secret, or with a parsed body', async () => {
    for (const none of ['', [], undefined as unknown as string]) {
      await expect(verify({ secret: none })).rejects.toBeInstanceOf(TypeError);
    }
    const parsed = JSON.parse(rawBody) as string;
    await expect(verify({ rawBody: parsed })).rejects.toBeInstanceOf(TypeError);
  });
});
