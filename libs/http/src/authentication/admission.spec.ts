import type { FastifyRequest } from 'fastify';
import { CrossSiteRequestGuard } from './admission.ts';
import { SessionCookie } from './authenticators.ts';

const OWN = 'https://api.example';
const requests = new CrossSiteRequestGuard(new SessionCookie(OWN), [`${OWN}/base`, 'https://app.example/']);
const COOKIE = { cookie: 'other=1; __Host-session=token' };
const WITH = { 'x-requested-with': 'fetch' };

type Headers = Readonly<Record<string, string>>;
function refusal(
  headers: Headers,
  method = 'POST',
  config: object = { access: 'shipments:write' },
): string | undefined {
  try {
    requests.refuseCrossSiteRequest({ method, headers, routeOptions: { config } } as unknown as FastifyRequest);
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe('a write with a session', () => {
  it.each<[string, Headers]>([
    ['a page of ours', { ...WITH, 'sec-fetch-site': 'same-origin', origin: OWN }],
    ['the web application', { ...WITH, 'sec-fetch-site': 'same-origin', origin: 'https://app.example' }],
    ['the address bar', { ...WITH, 'sec-fetch-site': 'none' }],
    ['what is no browser', WITH],
  ])('accepts a request from %s', (_from, headers) => {
    expect(refusal({ ...COOKIE, ...headers })).toBeUndefined();
  });

  it.each<[string, Headers]>([
    ['a form elsewhere', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['another site', { ...WITH, 'sec-fetch-site': 'cross-site' }],
    ['a neighbouring host', { ...WITH, 'sec-fetch-site': 'same-site' }],
    ['another origin', { ...WITH, origin: 'https://evil.example' }],
    ['another port', { ...WITH, origin: `${OWN}:8443` }],
    ['the same host without TLS', { ...WITH, origin: 'http://api.example' }],
    ['a sandboxed frame', { ...WITH, origin: 'null' }],
    ['an own origin with another site', { ...WITH, 'sec-fetch-site': 'cross-site', origin: OWN }],
    ['a page of ours without the header', { 'sec-fetch-site': 'same-origin', origin: OWN }],
    ['a page of ours with an empty header', { 'x-requested-with': '', origin: OWN }],
    ['nowhere', {}],
  ])('refuses a request from %s', (_from, headers) => {
    for (const method of ['POST', 'PATCH', 'PUT', 'DELETE']) {
      expect(refusal({ ...COOKIE, ...headers }, method)).toBe('csrf');
    }
  });

  it('checks only the key if a request has a key and a cookie', () => {
    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    for (const method of ['GET', 'HEAD', 'OPTIONS']) expect(refusal({ ...COOKIE, ...foreign }, method)).toBeUndefined();
    // The key decides, whatever other credentials the request has.
    expect(refusal({ ...COOKIE, ...foreign, authorization: 'Bearer x' })).toBeUndefined();
    expect(refusal({ ...foreign, cookie: 'session=token' })).toBeUndefined();
    expect(refusal(foreign)).toBeUndefined();
    expect(refusal({ ...COOKIE, ...foreign }, 'POST', { access: 'open' })).toBeUndefined();
  });

  it('checks the origin of a sign-in too, whatever credentials it has', () => {
    const config = { access: 'open', beginsSession: true };
    for (const headers of [{}, COOKIE, { authorization: 'Bearer x' }]) {
      expect(refusal(headers, 'POST', config)).toBe('csrf');
      expect(refusal({ ...headers, ...WITH }, 'POST', config)).toBeUndefined();
      expect(refusal({ ...headers, ...WITH, 'sec-fetch-site': 'cross-site' }, 'POST', config)).toBe('csrf');
    }
  });
});
