import { createHmac } from 'node:crypto';
import { verifySignature } from './signature.ts';

const secret = 'whsec_example';
const body = Buffer.from('{"id":"evt_1"}');
const now = Date.UTC(2026, 10, 1);
const seconds = now / 1000;
const sign = (t: number, key = secret) => createHmac('sha256', key).update(`${t}.${body.toString()}`).digest('hex');

describe('verifySignature', () => {
  it('accepts what the secret signed, also beside the signature of another secret', () => {
    expect(verifySignature(`t=${seconds},v1=${sign(seconds)}`, body, secret, now)).toBe('valid');
    expect(verifySignature(`t=${seconds},v1=${sign(seconds, 'old')},v1=${sign(seconds)}`, body, secret, now)).toBe(
      'valid',
    );
  });

  it('refuses another secret, another body and another time', () => {
    expect(verifySignature(`t=${seconds},v1=${sign(seconds, 'other')}`, body, secret, now)).toBe('wrong_signature');
    expect(verifySignature(`t=${seconds},v1=${sign(seconds)}`, Buffer.from('{}'), secret, now)).toBe('wrong_signature');
    expect(verifySignature(`t=${seconds + 1},v1=${sign(seconds)}`, body, secret, now)).toBe('wrong_signature');
  });

  it('refuses what is older than five minutes', () => {
    expect(verifySignature(`t=${seconds - 300},v1=${sign(seconds - 300)}`, body, secret, now)).toBe('valid');
    expect(verifySignature(`t=${seconds - 301},v1=${sign(seconds - 301)}`, body, secret, now)).toBe('too_old');
  });

  it.each([undefined, '', 't=,v1=', 'v1=00', `t=${seconds}`, 't=abc,v1=00', 'nonsense'])('refuses %p', (header) => {
    expect(verifySignature(header, body, secret, now)).toBe('malformed');
  });
});
