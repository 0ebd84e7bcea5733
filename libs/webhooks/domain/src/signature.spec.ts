import { createHmac } from 'node:crypto';
import { type Signer, signatureHeaders } from './signature.ts';

const body = '{"id":"evt_1"}';
const hmac = (key: string, text: string) => createHmac('sha256', key).update(text);
const keyed = (secret: string): Signer => ({
  service: (prefix) => hmac(secret, prefix + body).digest('hex'),
  standard: (prefix) => hmac(`key of ${secret}`, prefix + body).digest('base64'),
});

describe('the headers that sign a request', () => {
  test('are ours: the time in seconds and the HMAC of time, dot and body', () => {
    const headers = signatureHeaders('evt_1', 1_767_225_600_999, [keyed('whsec_abc')]);
    const expected = hmac('whsec_abc', `1767225600.${body}`).digest('hex');
    expect(headers['service-signature']).toBe(`t=1767225600,v1=${expected}`);
  });

  test('and those of Standard Webhooks: id, time, and the HMAC of id, time and body', () => {
    const { 'service-signature': _ours, ...headers } = signatureHeaders('evt_1', 1_767_225_600_999, [keyed('a')]);
    expect(headers).toEqual({
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1767225600',
      'webhook-signature': `v1,${hmac('key of a', `evt_1.1767225600.${body}`).digest('base64')}`,
    });
  });

  test('carry one signature for each valid secret', () => {
    const headers = signatureHeaders('evt_1', 1_767_225_600_000, [keyed('new'), keyed('old')]);
    expect(headers['service-signature']).toMatch(/^t=1767225600,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
    expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
    const [newest] = headers['webhook-signature'].split(' ');
    expect(newest).toBe(`v1,${hmac('key of new', `evt_1.1767225600.${body}`).digest('base64')}`);
  });
});
