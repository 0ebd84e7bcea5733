import { type LookupAddress, promises as dns } from 'node:dns';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls, createSecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import type { AddressPolicy } from './addresses.ts';
import { isLocalhost, LOOPBACK_ADDRESSES, addressRefusal } from './target.ts';

export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/**
 * Answers the socket that it begins to open, and calls back with one that may be written to: the same or, over TLS, another
 * on top. Destroying the first, at any time, ends both.
 */
export type Connector = (options: buildConnector.Options, callback: buildConnector.Callback) => Socket;

interface ConnectorOptions {
  readonly addresses: AddressPolicy;
  readonly lookup: Lookup;
  /** Trusted instead of Node's own store. */
  readonly ca?: string | Buffer;
}

/** How long one of several addresses may keep the next one waiting. */
const ADDRESS_ATTEMPT_MS = 500;
/** After this long without traffic the system asks whether the other side is still there. */
const KEEP_ALIVE_PROBE_MS = 60_000;

/**
 * Every connection resolves its name itself, drops the addresses that are refused, and hands the rest to the socket as
 * numbers: no second resolution can put another address in between (DNS rebinding), and a connection that is used again
 * was checked when it was opened. Only the address is taken from the answer; host header, server name and certificate
 * check stay with the URL's host.
 */
export function createConnector({ addresses, lookup, ca }: ConnectorOptions): Connector {
  const checkedLookup = (protocol: string): LookupFunction => {
    const pick = async (hostname: string): Promise<LookupAddress[]> => {
      const found = await lookup(hostname);
      if (found.length === 0) throw new NameNotResolved('the host name has no address');
      const refusals = found.map((address) => addressRefusal(address, protocol, addresses));
      const usable = found.filter((_, index) => refusals[index] === undefined);
      // Without the address: what a name means inside the operator's network is not for the client to learn.
      if (usable.length === 0) throw new AddressRefused(`the host is ${refusals[0]}`);
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
  // Made once: reading the trust store costs more than a handshake. Sessions are not resumed, so that every connection
  // sees the receiver's present certificate.
  const secureContext = createSecureContext(ca === undefined ? {} : { ca });

  return ({ protocol, hostname, port }, callback) => {
    const plain = protocol === 'http:';
    const socket = connectTcp({
      host: hostname,
      port: Number(port) || (plain ? 80 : 443),
      // Asked for names only: a host given as an address was judged with its URL.
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
        // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn it off.
        rejectUnauthorized: true,
        ALPNProtocols: ['http/1.1'],
        // A server name is never an address (RFC 6066).
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
    // Both stay for the socket's life, so that no late error is ever unhandled.
    socket.on('error', settle);
    return socket;
  };
}

/** The addresses of a host name, in the order in which to try them. Rejects with `NameNotResolved`. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

export class NameNotResolved extends Error {
  override readonly name = 'NameNotResolved';
}

const NOT_FOUND_CODES = new Set(['ENOTFOUND', 'ENODATA']);
/** How long the IPv6 answer is waited for once the IPv4 one is there (RFC 8305 says 50 ms for the reverse). */
const IPV6_WAIT_MS = 100;
/** After this long the system's list of name servers is read again. */
const SERVER_LIST_MAX_AGE_MS = 60_000;

/**
 * Asks the name servers directly instead of through the system's `getaddrinfo`: that one holds one of the process's few
 * threads per question, so that two names whose servers never answer would keep every other receiver from being
 * resolved.
 *
 * @param systemNames also ask the system (hosts file) for names that the name servers do not know: for receivers in the
 * operator's own networks
 * @param servers as `address:port`, in place of the system's list of name servers
 */
export function createLookup(systemNames: boolean, servers?: readonly string[]): Lookup {
  const running = new Map<string, Promise<readonly string[]>>();
  const createResolver = () => {
    const created = new dns.Resolver({ timeout: 2000, tries: 2 });
    if (servers !== undefined) created.setServers(servers);
    return created;
  };
  let resolver = createResolver();
  let resolverMadeAt = performance.now();

  async function resolve(hostname: string): Promise<readonly string[]> {
    if (isLocalhost(hostname)) return LOOPBACK_ADDRESSES;
    if (performance.now() - resolverMadeAt > SERVER_LIST_MAX_AGE_MS) {
      resolver = createResolver();
      resolverMadeAt = performance.now();
    }
    const six = queryAddresses(() => resolver.resolve6(hostname));
    const v4 = await queryAddresses(() => resolver.resolve4(hostname));
    const v6 =
      v4.addresses.length > 0
        ? await Promise.race([six, delay(IPV6_WAIT_MS, NO_ADDRESSES, { ref: false })])
        : await six;
    // IPv4 first: a machine without a way to IPv6 is more common than one without a way to IPv4.
    const found = [...v4.addresses, ...v6.addresses];
    if (found.length > 0) return found;

    const code = NOT_FOUND_CODES.has(v4.code) ? v6.code : v4.code;
    if (systemNames && (NOT_FOUND_CODES.has(code) || code === 'ECONNREFUSED')) {
      const known = await dns.lookup(hostname, { all: true }).catch(() => []);
      if (known.length > 0) return known.map(({ address }) => address);
    }
    throw new NameNotResolved(
      NOT_FOUND_CODES.has(code)
        ? 'the host name has no address'
        : `the name servers gave no answer for the host name (${code})`,
    );
  }

  return (hostname) => {
    let answer = running.get(hostname);
    if (answer === undefined) {
      answer = resolve(hostname).finally(() => running.delete(hostname));
      running.set(hostname, answer);
    }
    return answer;
  };
}

interface DnsAnswer {
  readonly addresses: readonly string[];
  /** Why there are none, as c-ares names it. */
  readonly code: string;
}
const NO_ADDRESSES: DnsAnswer = { addresses: [], code: 'ENODATA' };

async function queryAddresses(query: () => Promise<string[]>): Promise<DnsAnswer> {
  try {
    return { addresses: await query(), code: 'ENODATA' };
  } catch (error) {
    return { addresses: [], code: String((error as NodeJS.ErrnoException).code) };
  }
}
