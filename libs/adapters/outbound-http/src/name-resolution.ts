import { promises as dns } from 'node:dns';
import { setTimeout as delay } from 'node:timers/promises';
import { isLocalhost, loopback } from './target.ts';

/** The addresses of a host name, in the order in which to try them. Rejects with `NameNotResolved`. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

export class NameNotResolved extends Error {
  override readonly name = 'NameNotResolved';
}

const notFound = new Set(['ENOTFOUND', 'ENODATA']);
/** How long the IPv6 answer is waited for once the IPv4 one is there (RFC 8305 says 50 ms for the reverse). */
const secondAnswerMs = 100;
/** After this long the system's list of name servers is read again. */
const serversMaxAgeMs = 60_000;

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
    if (isLocalhost(hostname)) return loopback;
    if (performance.now() - resolverMadeAt > serversMaxAgeMs) {
      resolver = createResolver();
      resolverMadeAt = performance.now();
    }
    const six = ask(() => resolver.resolve6(hostname));
    const v4 = await ask(() => resolver.resolve4(hostname));
    const v6 =
      v4.addresses.length > 0 ? await Promise.race([six, delay(secondAnswerMs, nothing, { ref: false })]) : await six;
    // IPv4 first: a machine without a way to IPv6 is more common than one without a way to IPv4.
    const found = [...v4.addresses, ...v6.addresses];
    if (found.length > 0) return found;

    const code = notFound.has(v4.code) ? v6.code : v4.code;
    if (systemNames && (notFound.has(code) || code === 'ECONNREFUSED')) {
      const known = await dns.lookup(hostname, { all: true }).catch(() => []);
      if (known.length > 0) return known.map(({ address }) => address);
    }
    throw new NameNotResolved(
      notFound.has(code)
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
const nothing: DnsAnswer = { addresses: [], code: 'ENODATA' };

async function ask(query: () => Promise<string[]>): Promise<DnsAnswer> {
  try {
    return { addresses: await query(), code: 'ENODATA' };
  } catch (error) {
    return { addresses: [], code: String((error as NodeJS.ErrnoException).code) };
  }
}
