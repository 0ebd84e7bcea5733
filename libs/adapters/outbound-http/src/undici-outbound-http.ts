import type { Metrics, OutboundRequestFailure, OutboundHttp, OutboundOutcome, OutboundRequest } from '@tracking/ports';
import { createAddressPolicy } from './addresses.ts';
import { ReceiverConnectionPool, type ReceiverConnectionLimits } from './connections.ts';
import { createAddressCheckingConnector, createDnsLookupByNameServers, type Lookup } from './connector.ts';
import { OutgoingPostRequest } from './exchange.ts';
import type { FailureReason } from './failure.ts';
import { createRequestHeaders } from './response-body.ts';
import { parseReceiverUrl } from './target.ts';

export interface OutboundHttpOptions extends Partial<ReceiverConnectionLimits> {
  /**
   * CIDRs (IPv4 or IPv6) that requests may reach although their addresses are not public. An address without a prefix
   * length is a range of one address.
   */
  readonly allowedCidrs: readonly string[];
  /** True if `http:` is allowed, within `allowedCidrs` only. */
  readonly allowHttp: boolean;
  /** Default `User-Agent` header of requests. */
  readonly userAgent?: string;
  /** Function that resolves host names instead of the name servers. */
  readonly lookup?: Lookup;
  /** Trusted certificate authorities in PEM, instead of Node's own store (to which `NODE_EXTRA_CA_CERTS` adds). */
  readonly ca?: string | Buffer;
  readonly metrics?: Metrics;
}

/**
 * Creates an outbound HTTP client based on undici. In addition to the port's contract:
 * - Ports of other protocols (the Fetch Standard's "bad ports") are refused. All other ports are allowed.
 * - A request is sent a second time, within its deadline, if its connection had answered before and was closed without an
 *   answer. The receiver may then see the request twice.
 * - Headers that frame the message (`Host`, `Content-Length`, `Connection`, …) are dropped if a caller sets them.
 * - `close` refuses later requests and waits for those in progress. Each ends by its own deadline.
 *
 * @throws Error if an entry of `allowedCidrs` is not a CIDR
 */
export function createOutboundHttp(options: OutboundHttpOptions): OutboundHttp {
  const { allowHttp, userAgent = 'shipment-tracking-webhooks/1' } = options;
  const addresses = createAddressPolicy(options.allowedCidrs);
  const rules = { addresses, allowHttp };
  const lookup = options.lookup ?? createDnsLookupByNameServers(options.allowedCidrs.length > 0);
  const connector = createAddressCheckingConnector({
    addresses,
    lookup,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  const connections = new ReceiverConnectionPool(connector, {
    maxConnectionsPerOrigin: options.maxConnectionsPerOrigin ?? 1000,
    maxIdleConnections: options.maxIdleConnections ?? 1000,
    keepAliveMs: options.keepAliveMs ?? 15_000,
    maxConnectionAgeMs: options.maxConnectionAgeMs ?? 300_000,
  });

  const inFlight = new Set<OutgoingPostRequest>();
  let closing: PromiseWithResolvers<void> | undefined;
  // Requests wait if no connection is free. Callers limit the number of their requests.
  options.metrics?.createGauge('outbound_requests_in_flight', 'POST requests in progress', [], () => inFlight.size);
  options.metrics?.createGauge(
    'outbound_connections_open',
    'Open connections to receivers, including those being opened',
    [],
    () => connections.open,
  );
  options.metrics?.createGauge(
    'outbound_connections_idle',
    'Idle connections kept for further requests',
    [],
    () => connections.idle,
  );

  function postRequest(request: OutboundRequest): Promise<OutboundOutcome> {
    if (closing !== undefined)
      return createOutboundFailure({ code: 'aborted', message: 'this process is shutting down' });
    if (request.signal?.aborted === true)
      return createOutboundFailure({ code: 'aborted', message: 'the request was canceled before it was sent' });
    const target = parseReceiverUrl(request.url, rules);
    if ('code' in target) return createOutboundFailure(target);
    return new Promise((resolve) => {
      const headers = createRequestHeaders(request.headers, userAgent);
      const exchange = new OutgoingPostRequest(request, { ...target, headers }, connections, (outcome) => {
        inFlight.delete(exchange);
        if (inFlight.size === 0) closing?.resolve();
        resolve(outcome);
      });
      inFlight.add(exchange);
      exchange.startRequestExchange();
    });
  }

  return {
    post: postRequest,
    describeUrlRefusal(url) {
      const target = parseReceiverUrl(url, rules);
      return 'code' in target ? target.message : undefined;
    },
    async closeOutboundHttp() {
      closing ??= Promise.withResolvers();
      if (inFlight.size === 0) closing.resolve();
      await closing.promise;
      connections.closeIdleConnections();
    },
  };
}

function createOutboundFailure(failure: FailureReason): Promise<OutboundRequestFailure> {
  return Promise.resolve({ kind: 'failure', code: failure.code, message: failure.message, durationMs: 0 });
}
