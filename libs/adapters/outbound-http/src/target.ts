import { isIP } from 'node:net';
import type { OutboundErrorCode } from '@tracking/ports';
import type { AddressPolicy } from './addresses.ts';

/** Target of a request. The URL is parsed once; no other code parses the text again. */
export interface RequestTarget {
  /** Origin of the URL, as `https://host:port`. Requests to the same origin share connections. */
  readonly origin: string;
  /** Path and query of the URL. */
  readonly path: string;
}

interface TargetRefusal {
  readonly code: OutboundErrorCode;
  /** Error message for users, in one line. */
  readonly message: string;
}

interface TargetUrlRules {
  readonly addresses: AddressPolicy;
  readonly allowHttp: boolean;
}

/** Maximum length of a URL that browsers, proxies and servers commonly accept. */
const MAX_URL_LENGTH = 2048;

/**
 * Ports of other protocols, whose services may act on a request. The list is the Fetch Standard's "bad ports", which
 * every browser blocks, so no receiver uses one of them. All other ports are allowed.
 */
const BLOCKED_PORTS = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 ' +
    '135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 ' +
    '995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080'
  ).split(' '),
);

/**
 * Parses and checks a receiver's URL. A host given as an address, in any notation (decimal, octal, hexadecimal,
 * full-width), is checked here in its canonical form; a host name is checked when it is resolved for a connection.
 */
export function parseReceiverUrl(text: string, rules: TargetUrlRules): RequestTarget | TargetRefusal {
  const url = text.length <= MAX_URL_LENGTH ? URL.parse(text) : null;
  if (url === null) return createUrlRefusal(`not an absolute URL of at most ${MAX_URL_LENGTH} characters`);
  // A trailing dot would become part of the TLS server name, where it is forbidden (RFC 6066).
  const host = url.hostname.endsWith('.') ? url.hostname.slice(0, -1) : url.hostname;
  const refused = checkReceiverUrlForm(url, rules.allowHttp) ?? checkReceiverHost(host, url.protocol, rules.addresses);
  if (refused !== undefined) return refused;
  const port = url.port === '' ? '' : `:${url.port}`;
  return { origin: `${url.protocol}//${host}${port}`, path: url.pathname + url.search };
}

function checkReceiverUrlForm(url: URL, allowHttp: boolean): TargetRefusal | undefined {
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && allowHttp);
  if (!isAllowed) return createUrlRefusal('the URL must begin with https://');
  if (url.username !== '' || url.password !== '') return createUrlRefusal('the URL must not contain credentials');
  if (url.href.includes('#')) return createUrlRefusal('the URL must not contain a fragment');
  return BLOCKED_PORTS.has(url.port)
    ? createUrlRefusal(`port ${url.port} is reserved for another protocol`)
    : undefined;
}

function checkReceiverHost(host: string, protocol: string, addresses: AddressPolicy): TargetRefusal | undefined {
  const literal = host.startsWith('[') ? host.slice(1, -1) : host;
  if (isIP(literal) !== 0) {
    const refused = describeRefusedAddress(literal, protocol, addresses);
    return refused === undefined ? undefined : { code: 'address_not_allowed', message: `the host is ${refused}` };
  }
  if (!isHostName(host)) return createUrlRefusal('the host is not a host name');
  const isThisMachine =
    isLocalhost(host) && LOOPBACK_ADDRESSES.every((address) => describeRefusedAddress(address, protocol, addresses));
  return isThisMachine ? { code: 'address_not_allowed', message: 'the host is this machine' } : undefined;
}

/**
 * Returns the reason why a connection to this address is refused, as the end of a sentence; undefined if it is allowed.
 */
export function describeRefusedAddress(
  address: string,
  protocol: string,
  addresses: AddressPolicy,
): string | undefined {
  const kind = addresses.describeRefusedAddress(address);
  if (kind !== undefined) return `not a public address (${kind})`;
  return protocol === 'http:' && !addresses.isAllowedByOperator(address)
    ? 'reached over plain http, outside the networks that the operator allowed'
    : undefined;
}

/**
 * Loopback addresses. Names ending in `localhost` always resolve to them, regardless of name servers (RFC 6761, section
 * 6.3).
 */
export const LOOPBACK_ADDRESSES: readonly string[] = ['127.0.0.1', '::1'];
export function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

/**
 * Returns true for a host name of labels with 1 to 63 letters, digits, hyphens or underscores. Underscores occur in
 * private names.
 */
function isHostName(host: string): boolean {
  return host.length <= 253 && host.split('.').every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
}

function createUrlRefusal(message: string): TargetRefusal {
  return { code: 'url_not_allowed', message };
}
