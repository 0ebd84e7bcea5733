import { isIP } from 'node:net';
import type { OutboundErrorCode } from '@tracking/ports';
import type { AddressPolicy } from './addresses.ts';

/** Where a request goes, read from its URL once: nothing later parses the text again. */
export interface Target {
  /** `https://host:port`, the key of its connections. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
}

interface TargetRefusal {
  readonly code: OutboundErrorCode;
  /** One line for people. */
  readonly message: string;
}

interface TargetRules {
  readonly addresses: AddressPolicy;
  readonly allowHttp: boolean;
}

/** As long as browsers, proxies and servers take it. */
const MAX_URL_LENGTH = 2048;

/**
 * Ports of services that speak other protocols and may act on what looks like theirs. The list is the Fetch Standard's
 * ("port blocking"), which every browser follows: no receiver can have been used there before. All others are allowed.
 */
const BLOCKED_PORTS = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 ' +
    '135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 ' +
    '995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080'
  ).split(' '),
);

/**
 * Reads a receiver's URL. A host given as an address, in whatever notation (decimal, octal, hexadecimal, full-width),
 * is judged here in its canonical form; a name is judged when it is resolved for a connection.
 */
export function readTarget(text: string, rules: TargetRules): Target | TargetRefusal {
  const url = text.length <= MAX_URL_LENGTH ? URL.parse(text) : null;
  if (url === null) return urlNotAllowed(`not an absolute URL of at most ${MAX_URL_LENGTH} characters`);
  // A final dot would be taken into the TLS server name, where it is forbidden (RFC 6066).
  const host = url.hostname.endsWith('.') ? url.hostname.slice(0, -1) : url.hostname;
  const refused = checkUrlForm(url, rules.allowHttp) ?? checkHost(host, url.protocol, rules.addresses);
  if (refused !== undefined) return refused;
  const port = url.port === '' ? '' : `:${url.port}`;
  return { origin: `${url.protocol}//${host}${port}`, path: url.pathname + url.search };
}

function checkUrlForm(url: URL, allowHttp: boolean): TargetRefusal | undefined {
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && allowHttp);
  if (!isAllowed) return urlNotAllowed('the URL must begin with https://');
  if (url.username !== '' || url.password !== '') return urlNotAllowed('the URL must not carry credentials');
  if (url.href.includes('#')) return urlNotAllowed('the URL must not carry a fragment');
  return BLOCKED_PORTS.has(url.port) ? urlNotAllowed(`port ${url.port} belongs to another protocol`) : undefined;
}

function checkHost(host: string, protocol: string, addresses: AddressPolicy): TargetRefusal | undefined {
  const literal = host.startsWith('[') ? host.slice(1, -1) : host;
  if (isIP(literal) !== 0) {
    const refused = addressRefusal(literal, protocol, addresses);
    return refused === undefined ? undefined : { code: 'address_not_allowed', message: `the host is ${refused}` };
  }
  if (!isHostName(host)) return urlNotAllowed('the host is not a host name');
  const isThisMachine =
    isLocalhost(host) && LOOPBACK_ADDRESSES.every((address) => addressRefusal(address, protocol, addresses));
  return isThisMachine ? { code: 'address_not_allowed', message: 'the host is this machine' } : undefined;
}

/** Why a connection to this address would be refused, as the end of a sentence; undefined when it would not. */
export function addressRefusal(address: string, protocol: string, addresses: AddressPolicy): string | undefined {
  const kind = addresses.refuses(address);
  if (kind !== undefined) return `not a public address (${kind})`;
  return protocol === 'http:' && !addresses.isAllowedByOperator(address)
    ? 'reached over plain http: outside the networks that the operator allowed'
    : undefined;
}

/** RFC 6761, section 6.3: these names mean loopback, whatever a name server says. */
export const LOOPBACK_ADDRESSES: readonly string[] = ['127.0.0.1', '::1'];
export function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

/** Letters, digits, hyphens and (as private names have them) underscores, in labels of 1 to 63. */
function isHostName(host: string): boolean {
  return host.length <= 253 && host.split('.').every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
}

function urlNotAllowed(message: string): TargetRefusal {
  return { code: 'url_not_allowed', message };
}
