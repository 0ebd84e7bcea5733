import { type LookupAddress, promises as dns } from 'node:dns';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls, createSecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import type { AddressPolicy } from './addresses.ts';
import { isLocalhost, LOOPBACK_ADDRESSES, describeRefusedAddress } from './target.ts';

export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
}

/**
 * Opens a socket and returns it. The callback receives the socket to write to: the same socket or, with TLS, a TLS
 * socket on top of it. Destroying the first socket, at any time, ends both sockets.
 */
export type Connector = (options: buildConnector.Options, callback: buildConnector.Callback) => Socket;

interface OutboundConnectorOptions {
  readonly addresses: AddressPolicy;
  readonly lookup: Lookup;
  /** Trusted certificate authorities, which replace Node's own store. */
  readonly ca?: string | Buffer;
}

/** Milliseconds after which the connector also tries the next of several addresses. */
const ADDRESS_ATTEMPT_MS = 500;
/** Idle milliseconds after which the operating system checks whether the peer is still reachable. */
const KEEP_ALIVE_PROBE_MS = 60_000;

/**
 * Creates the connector. Every connection resolves its host name itself, drops refused addresses, and connects to one
 * of the remaining addresses. No second resolution can therefore substitute another address (DNS rebinding), and a
 * reused connection was checked when it was opened. The Host header, server name and certificate check still use the
 * URL's host.
 */
export function createAddressCheckingConnector({ addresses, lookup, ca }: OutboundConnectorOptions): Connector {
  const checkedLookup = (protocol: string): LookupFunction => {
    const pick = async (hostname: string): Promise<LookupAddress[]> => {
      const found = await lookup(hostname);
      if (found.length === 0) throw new HostNameNotResolvedError('the host name has no address');
      const refusals = found.map((address) => describeRefusedAddress(address, protocol, addresses));
      const usable = found.filter((_, index) => refusals[index] === undefined);
      // The message omits the address, because clients must not learn how names resolve in the operator's network.
      if (usable.length === 0) throw new AddressRefusedError(`the host is ${refusals[0]}`);
      return usable.map((address) => ({ address, family: isIP(address) }));
    };
    return (hostname, _options, callback) => {
      pick(hostname).then(
        (usable) => callback(null, usable),
        (error: Error) => callback(error, []),
      );
    };
  };
  const lookups = { 'http:': checkedLookup('http:'), 'https:': checkedLookup('https:') };
  // The TLS context is created once, because reading the trust store costs more than a handshake. Sessions are not
  // resumed, so that every connection checks the receiver's current certificate.
  const secureContext = createSecureContext(ca === undefined ? {} : { ca });

  return ({ protocol, hostname, port }, callback) => {
    const plain = protocol === 'http:';
    const socket = connectTcp({
      host: hostname,
      port: Number(port) || (plain ? 80 : 443),
      // The lookup runs for host names only. A host given as an address is checked with its URL.
      lookup: lookups[plain ? 'http:' : 'https:'],
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
    });
    const secure = () =>
      connectTls({
        socket,
        host: hostname,
        secureContext,
        // The option is set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable certificate checks.
        rejectUnauthorized: true,
        ALPNProtocols: ['http/1.1'],
        // A TLS server name is never an IP address (RFC 6066).
        ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
      });
    let waiting = true;
    const settle = (error: Error | null, open = socket) => {
      if (!waiting) return;
      waiting = false;
      if (error === null) callback(null, open);
      else callback(error, null);
    };
    socket.once('connect', () => {
      if (plain) return settle(null);
      const tls = secure();
      tls.once('secureConnect', () => settle(null, tls));
      tls.on('error', settle);
    });
    // Both error handlers remain until the socket closes, so that no late error is unhandled.
    socket.on('error', settle);
    return socket;
  };
}

/** Resolves a host name to its addresses, in the order in which to try them. Rejects with `HostNameNotResolvedError`. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

export class HostNameNotResolvedError extends Error {
  override readonly name = 'NameNotResolvedError';
}

const DNS_NOT_FOUND_CODES = new Set(['ENOTFOUND', 'ENODATA']);
/**
 * Milliseconds to wait for IPv6 addresses after the IPv4 addresses have arrived. RFC 8305 recommends 50 ms for the
 * reverse order.
 */
const IPV6_WAIT_MS = 100;
/** Milliseconds after which the connector reads the system's list of name servers again. */
const NAME_SERVER_LIST_MAX_AGE_MS = 60_000;

/**
 * Returns a lookup that queries the name servers directly instead of using `getaddrinfo`, which occupies one of the
 * process's few threads for each query: two names with unresponsive servers would block the resolution of all other
 * receivers.
 * @param systemNames also use the system's hosts file for names that the name servers do not know; for receivers in
 * the operator's own networks
 * @param servers name servers as `address:port`, instead of the system's list
 */
export function createDnsLookupByNameServers(systemNames: boolean, servers?: readonly string[]): Lookup {
  const running = new Map<string, Promise<readonly string[]>>();
  const createResolver = () => {
    const created = new dns.Resolver({ timeout: 2000, tries: 2 });
    if (servers !== undefined) created.setServers(servers);
    return created;
  };
  let resolver = createResolver();
  let resolverMadeAt = performance.now();

  async function resolveHostname(hostname: string): Promise<readonly string[]> {
    if (isLocalhost(hostname)) return LOOPBACK_ADDRESSES;
    if (performance.now() - resolverMadeAt > NAME_SERVER_LIST_MAX_AGE_MS) {
      resolver = createResolver();
      resolverMadeAt = performance.now();
    }
    const six = queryAddresses(() => resolver.resolve6(hostname));
    const v4 = await queryAddresses(() => resolver.resolve4(hostname));
    const v6 =
      v4.addresses.length > 0
        ? await Promise.race([six, delay(IPV6_WAIT_MS, DNS_ANSWER_WITHOUT_ADDRESSES, { ref: false })])
        : await six;
    // IPv4 addresses come first, because machines without an IPv6 route are more common than machines without an IPv4
    // route.
    const found = [...v4.addresses, ...v6.addresses];
    if (found.length > 0) return found;

    const code = DNS_NOT_FOUND_CODES.has(v4.code) ? v6.code : v4.code;
    if (systemNames && (DNS_NOT_FOUND_CODES.has(code) || code === 'ECONNREFUSED')) {
      const known = await dns.lookup(hostname, { all: true }).catch(() => []);
      if (known.length > 0) return known.map(({ address }) => address);
    }
    throw new HostNameNotResolvedError(
      DNS_NOT_FOUND_CODES.has(code)
        ? 'the host name has no address'
        : `the name servers did not answer for the host name (${code})`,
    );
  }

  return (hostname) => {
    let answer = running.get(hostname);
    if (answer === undefined) {
      answer = resolveHostname(hostname).finally(() => running.delete(hostname));
      running.set(hostname, answer);
    }
    return answer;
  };
}

interface DnsAnswer {
  readonly addresses: readonly string[];
  /** Reason for an empty result of a name resolution, as a c-ares code. */
  readonly code: string;
}
const DNS_ANSWER_WITHOUT_ADDRESSES: DnsAnswer = { addresses: [], code: 'ENODATA' };

async function queryAddresses(query: () => Promise<string[]>): Promise<DnsAnswer> {
  try {
    return { addresses: await query(), code: 'ENODATA' };
  } catch (error) {
    return { addresses: [], code: String((error as NodeJS.ErrnoException).code) };
  }
}
