import { HttpOnlyCookie, TokenSigner } from '@tracking/http';
import { KnownSignInDevices } from './sign-in-throttle.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const SECRET = Buffer.alloc(32, 1);
const HOME = '203.0.113.7';
const ELSEWHERE = '2001:db8:1:2300::1';
const COMMAND = { id: 'command 1', at: '2026-03-01T12:00:00.000Z' };

let now = Date.parse(COMMAND.at);
beforeEach(() => {
  now = Date.parse(COMMAND.at);
});
const originsWith = (secret: Buffer) =>
  new KnownSignInDevices(
    new TokenSigner(secret),
    new HttpOnlyCookie('https://api.example', 'device'),
    () => new Date(now),
  );
const origins = originsWith(SECRET);
const requestWith = (setCookie: string, ip = ELSEWHERE) => ({
  headers: { cookie: setCookie.split(';', 1)[0] ?? '' },
  ip,
});
const deviceOf = (request: ReturnType<typeof requestWith>, email: string, by = origins) =>
  by.recognizeKnownSignInDevice(request, email).device;

describe('the cookie of a known device', () => {
  const sent = origins.rememberSignInDevice({ ip: HOME }, 'Jo@example.com', COMMAND);

  it('is readable by no script, and contains neither the e-mail address nor the id of the command', () => {
    expect(sent).toMatch(
      /^__Host-device=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Secure; Expires=Fri, 28 Aug 2026 12:00:00 GMT$/,
    );
    const [, value = ''] = /device=([^;]+)/.exec(sent) ?? [];
    expect(Buffer.from(value, 'base64url').toString('latin1')).not.toMatch(/jo@|command 1/i);
  });

  it('is the same for a repeat of the sign-in, and another one for each sign-in', () => {
    expect(origins.rememberSignInDevice({ ip: HOME }, 'jo@example.com', COMMAND)).toBe(sent);
    const next = origins.rememberSignInDevice({ ip: HOME }, 'jo@example.com', { ...COMMAND, id: 'command 2' });
    expect(deviceOf(requestWith(next), 'jo@example.com')).not.toBe(deviceOf(requestWith(sent), 'jo@example.com'));
  });

  it('is valid for its e-mail address only, in any case, for 180 days', () => {
    const find = (email: string) => deviceOf(requestWith(sent), email);
    expect(find(' JO@example.com')).toEqual(expect.any(String));
    expect(find('ann@example.com')).toBeUndefined();
    now += 180 * DAY_MS - 1;
    expect(find('jo@example.com')).toEqual(expect.any(String));
    now += 1;
    expect(find('jo@example.com')).toBeUndefined();
  });

  it('is valid only unchanged and with the secret of the deployment', () => {
    const { cookie } = requestWith(sent).headers;
    for (const forged of ['__Host-device=', '__Host-device=abc', `${cookie}A`, cookie.replace('device=', 'session=')]) {
      expect(deviceOf(requestWith(forged), 'jo@example.com')).toBeUndefined();
    }
    expect(origins.recognizeKnownSignInDevice({ headers: {}, ip: ELSEWHERE }, 'jo@example.com').device).toBeUndefined();
    expect(deviceOf(requestWith(sent), 'jo@example.com', originsWith(Buffer.alloc(32, 2)))).toBeUndefined();
  });
});

describe('the share of the queue of password hashes', () => {
  const clientOf = (by: KnownSignInDevices, email: string, request = requestWith('')) =>
    by.recognizeKnownSignInDevice(request, email).client;

  it('is that of the network for a stranger, and that of the user for a known device or address', () => {
    const fresh = originsWith(SECRET);
    const stranger = { shares: ['2001:db8:1', '2001:db8:1:35'], isKnown: false };
    expect(clientOf(fresh, 'jo@example.com')).toEqual(stranger);
    const sent = fresh.rememberSignInDevice({ ip: HOME }, 'jo@example.com', COMMAND);
    const known = { shares: [expect.any(String)], isKnown: true };
    expect(clientOf(fresh, 'JO@example.com', requestWith(sent))).toEqual(known);
    expect(clientOf(fresh, 'jo@example.com', requestWith('', HOME))).toEqual(known);
    // The address is known for this user only.
    expect(clientOf(fresh, 'ann@example.com', requestWith(sent, HOME))).toEqual({
      shares: ['203.0.113'],
      isKnown: false,
    });
    expect(clientOf(fresh, 'jo@example.com')).toEqual(stranger);
  });

  it('is that of the network again after 10,000 sign-ins from other addresses', () => {
    const fresh = originsWith(SECRET);
    fresh.rememberSignInDevice({ ip: HOME }, 'jo@example.com', COMMAND);
    for (let n = 0; n < 9_999; n += 1) fresh.rememberSignInDevice({ ip: HOME }, `user-${n}@example.com`, COMMAND);
    expect(clientOf(fresh, 'jo@example.com', requestWith('', HOME)).isKnown).toBe(true);
    fresh.rememberSignInDevice({ ip: HOME }, 'last@example.com', COMMAND);
    expect(clientOf(fresh, 'jo@example.com', requestWith('', HOME)).isKnown).toBe(false);
  });
});
