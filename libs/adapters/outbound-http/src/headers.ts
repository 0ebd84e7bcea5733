import type { Dispatcher } from 'undici';

export type ReceivedHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/**
 * What frames the message, names the host or steers the connection is never the caller's: endpoints carry headers that
 * their owners chose, and a `Host` of their choice would also choose the name that the certificate is checked against.
 */
const ours = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-connection',
  'content-length',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
]);

/** Kept of an answer; the parser bounds their size to 16 KiB in all. */
const maxHeaders = 64;

/** Names and values in turn, as undici takes them fastest. Headers that are ours to set are left out. */
export function requestHeaders(given: Readonly<Record<string, string>>, userAgent: string): string[] {
  // The kept body is small and read by people: compression would only cost.
  const defaults: Record<string, string> = { 'user-agent': userAgent, accept: '*/*', 'accept-encoding': 'identity' };
  const headers: string[] = [];
  for (const name in given) {
    const lowerCase = name.toLowerCase();
    if (ours.has(lowerCase)) continue;
    delete defaults[lowerCase];
    headers.push(name, given[name] ?? '');
  }
  for (const name in defaults) headers.push(name, defaults[name] ?? '');
  return headers;
}

/** Names in lower case, several values of one name joined with commas. */
export function responseHeaders(received: ReceivedHeaders): Readonly<Record<string, string>> {
  const entries = Object.entries(received).slice(0, maxHeaders);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}
