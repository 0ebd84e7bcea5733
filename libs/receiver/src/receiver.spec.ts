import { createHmac } from 'node:crypto';
import { type ReceivedDelivery, startReceiver, verifySignature, type WebhookReceiver } from './receiver.ts';

const secret = 'whsec_example';

describe('the receiver', () => {
  const received: ReceivedDelivery[] = [];
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    receiver = await startReceiver({}, (delivery) => void received.push(delivery));
    receiver.useSecret(secret);
  });
  beforeEach(() => received.splice(0));
  afterAll(() => receiver.close());

  const post = (body: string, key = secret) => {
    const t = Math.floor(Date.now() / 1000);
    const signature = createHmac('sha256', key).update(`${t}.${body}`).digest('hex');
    return fetch(receiver.url, { method: 'POST', body, headers: { 'Service-Signature': `t=${t},v1=${signature}` } });
  };

  it('returns the challenge', async () => {
    const answer = await post('{"type":"endpoint.verification","data":{"challenge":"abc"}}');
    expect([answer.status, await answer.text()]).toEqual([200, 'abc']);
    expect(received).toEqual([]);
  });

  it('accepts a signed delivery and recognizes a repeat', async () => {
    const body = '{"id":"evt_1","type":"shipment.created","data":{}}';
    expect([(await post(body)).status, (await post(body)).status]).toEqual([204, 204]);
    expect(received.map(({ verdict, repeated }) => [verdict, repeated])).toEqual([
      ['valid', false],
      ['valid', true],
    ]);
  });

  it('rejects a signature of another secret', async () => {
    expect((await post('{"id":"evt_2","type":"shipment.created","data":{}}', 'whsec_other')).status).toBe(400);
    expect(received.map(({ verdict }) => verdict)).toEqual(['wrong_signature']);
  });

  it('responds only to challenges until it has a secret', async () => {
    const told: ReceivedDelivery[] = [];
    const fresh = await startReceiver({}, (delivery) => void told.push(delivery));
    const send = (body: string) => fetch(fresh.url, { method: 'POST', body });
    expect((await send('{"id":"evt_3","type":"shipment.created","data":{}}')).status).toBe(503);
    const answer = await send('{"type":"endpoint.verification","data":{"challenge":"abc"}}');
    expect([answer.status, await answer.text()]).toEqual([200, 'abc']);
    await fresh.close();
    expect(told).toEqual([]);
  });

  it.each(['', 'not JSON', 'null', '[]', '"text"'])('survives the body %p', async (body) => {
    await post(body);
    expect((await post('{"type":"endpoint.verification","data":{"challenge":"abc"}}')).status).toBe(200);
  });
});

const body = Buffer.from('{"id":"evt_1"}');
const now = Date.UTC(2026, 10, 1);
const seconds = now / 1000;
const sign = (t: number, key = secret) => createHmac('sha256', key).update(`${t}.${body.toString()}`).digest('hex');

describe('verifySignature', () => {
  it('accepts a signature of the secret, also beside the signature of another secret', () => {
    expect(verifySignature(`t=${seconds},v1=${sign(seconds)}`, body, secret, now)).toBe('valid');
    expect(verifySignature(`t=${seconds},v1=${sign(seconds, 'old')},v1=${sign(seconds)}`, body, secret, now)).toBe(
      'valid',
    );
  });

  it('rejects another secret, another body and another time', () => {
    expect(verifySignature(`t=${seconds},v1=${sign(seconds, 'other')}`, body, secret, now)).toBe('wrong_signature');
    expect(verifySignature(`t=${seconds},v1=${sign(seconds)}`, Buffer.from('{}'), secret, now)).toBe('wrong_signature');
    expect(verifySignature(`t=${seconds + 1},v1=${sign(seconds)}`, body, secret, now)).toBe('wrong_signature');
  });

  it('rejects signatures older than five minutes', () => {
    expect(verifySignature(`t=${seconds - 300},v1=${sign(seconds - 300)}`, body, secret, now)).toBe('valid');
    expect(verifySignature(`t=${seconds - 301},v1=${sign(seconds - 301)}`, body, secret, now)).toBe('too_old');
  });

  it.each([undefined, '', 't=,v1=', 'v1=00', `t=${seconds}`, 't=abc,v1=00', 'nonsense'])('rejects %p', (header) => {
    expect(verifySignature(header, body, secret, now)).toBe('malformed');
  });
});
