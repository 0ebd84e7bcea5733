import { createHmac } from 'node:crypto';
import { signatureHeader } from './signature.ts';

const body = '{"id":"evt_1"}';
const keyed = (secret: string) => (prefix: string) =>
  createHmac('sha256', secret).update(prefix).update(body).digest('hex');

describe('the signature header', () => {
  test('is the time in seconds and the HMAC of time, dot and body, keyed with the whole secret', () => {
    const expected = createHmac('sha256', 'whsec_abc').update(`1767225600.${body}`).digest('hex');
    expect(signatureHeader(1_767_225_600_999, [keyed('whsec_abc')])).toBe(`t=1767225600,v1=${expected}`);
  });

  test('carries one signature for each valid secret', () => {
    const header = signatureHeader(1_767_225_600_000, [keyed('whsec_new'), keyed('whsec_old')]);
    expect(header).toMatch(/^t=1767225600,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
  });
});
