import { SessionCookie } from './authenticators.ts';

const EXPIRES = new Date('2026-12-01T12:00:00Z');

describe('the cookie of a session', () => {
  it.each([
    ['https://api.example', '__Host-session', 'Path=/; HttpOnly; SameSite=Lax; Secure'],
    ['http://127.0.0.1:3000', 'session', 'Path=/; HttpOnly; SameSite=Lax'],
  ])('for the API at %s, the cookie is %s; %s', (baseUrl, name, attributes) => {
    const cookie = new SessionCookie(baseUrl);
    expect(cookie.formatSetCookie('token', EXPIRES)).toBe(
      `${name}=token; ${attributes}; Expires=Tue, 01 Dec 2026 12:00:00 GMT`,
    );
    expect(cookie.formatRemoveCookie()).toBe(`${name}=; ${attributes}; Expires=Thu, 01 Jan 1970 00:00:00 GMT`);
  });

  it.each([
    ['session=a', 'a'],
    ['other=b; session=a; more=c', 'a'],
    [' session = a ', 'a'],
    ['session=a; session=b', 'a'],
    ['session=', ''],
    ['xsession=a; Session=b; session', undefined],
    ['__Host-session=a', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('reads the token from %j', (header, token) => {
    const headers = header === undefined ? {} : { cookie: header };
    expect(new SessionCookie('http://127.0.0.1').readCookie({ headers })).toBe(token);
  });
});
