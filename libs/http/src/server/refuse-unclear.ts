import type { FastifyRequest } from 'fastify';
import { isIPv6 } from 'node:net';
import { RequestError } from '../errors/request-error.ts';

/** `uri-host [ ":" port ]` of RFC 9110, 7.2, for anything but an IPv6 address; the host may be empty. */
const HOST = /^(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*(?::\d*)?$/i;
const IPV6_HOST = /^\[([^\]]*)\](?::\d*)?$/;

/**
 * Refuses what HTTP/1.1 wants refused although a request could be made of it. What two hosts on the way could take for
 * two different things is answered here.
 * @throws RequestError
 */
export function refuseUnclear({ headers, raw }: FastifyRequest): void {
  const hosts = raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  // RFC 9112, 3.2.
  if (hosts.length > 1) throw notValid('it has more than one Host header');
  if (headers.host === undefined && raw.httpVersion !== '1.0') throw notValid('it has no Host header');
  if (headers.host !== undefined && !isHost(headers.host)) throw notValid('its Host header names no host');
  // RFC 9110, 10.1.1; older clients know no expectations.
  if (headers.expect !== undefined && raw.httpVersion !== '1.0' && !/^100-continue$/i.test(headers.expect)) {
    throw new RequestError(
      'expectation_failed',
      'The request expects what is not done here; only 100-continue is known.',
    );
  }
}

function isHost(text: string): boolean {
  const address = IPV6_HOST.exec(text)?.[1];
  return address === undefined ? HOST.test(text) : isIPv6(address);
}

function notValid(reason: string): RequestError {
  return new RequestError('validation_failed', `The request is not valid HTTP: ${reason}.`);
}
