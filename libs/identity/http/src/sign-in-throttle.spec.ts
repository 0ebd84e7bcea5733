import { HttpOnlyCookie, TokenSealer } from '@tracking/http';
import { KnownDevices } from './sign-in-throttle.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const SECRET = Buffer.alloc(32, 1);
const COMMAND = { id: 'command 1', at: '2026-03-01T12:00:00.000Z' };

let now = Date.parse(COMMAND.at);
beforeEach(() => {
  now = Date.parse(COMMAND.at);
});
const devicesWith = (secret: Buffer) =>
  new KnownDevices(new TokenSealer(secret), new HttpOnlyCookie('https://api.example', 'device'), () => new Date(now));
const devices = devicesWith(SECRET);
const requestWith = (setCookie: string) => ({ headers: { cookie: setCookie.split(';', 1)[0] ?? '' } });

describe('the cookie of a known device', () => {
  const sent = devices.remember('Jo@example.com', COMMAND);

  it('is readable by no script, and contains neither the e-mail address nor the id of the command', () => {
    expect(sent).toMatch(
      /^__Host-device=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Secure; Expires=Fri, 28 Aug 2026 12:00:00 GMT$/,
    );
    const [, value = ''] = /device=([^;]+)/.exec(sent) ?? [];
    expect(Buffer.from(value, 'base64url').toString('latin1')).not.toMatch(/jo@|command 1/i);
  });

  it('is the same for a repeat of the sign-in, and another one for each sign-in', () => {
    expect(devices.remember('jo@example.com', COMMAND)).toBe(sent);
    const next = devices.remember('jo@example.com', { ...COMMAND, id: 'command 2' });
    expect(devices.find(requestWith(next), 'jo@example.com')).not.toBe(
      devices.find(requestWith(sent), 'jo@example.com'),
    );
  });

  it('is valid for its e-mail address only, in any case, for 180 days', () => {
    const find = (email: string) => devices.find(requestWith(sent), email);
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
      expect(devices.find({ headers: { cookie: forged } }, 'jo@example.com')).toBeUndefined();
    }
    expect(devices.find({ headers: {} }, 'jo@example.com')).toBeUndefined();
    expect(devicesWith(Buffer.alloc(32, 2)).find(requestWith(sent), 'jo@example.com')).toBeUndefined();
  });
});
