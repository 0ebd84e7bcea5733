import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { ReceiverResponseToDelivery, DeliveryRequest } from '@tracking/receiver';
import axios from 'axios';
import type { AxiosResponse, RawAxiosRequestHeaders } from 'axios';
import { InvalidArgumentError } from 'commander';

/** Headers of one connection (RFC 9110, 7.6.1), and headers that axios sets for the forwarded request. */
const HEADERS_NOT_FORWARDED = [
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['host', 'content-length', 'expect'],
];
/** Header values that stop axios from adding its defaults. */
const SUPPRESSED_AXIOS_HEADERS = { accept: false, 'accept-encoding': false, 'user-agent': false };
const CONNECTION_ERROR_MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens at this address',
  ECONNRESET: 'the server closed the connection without a response',
  ENOTFOUND: 'the host name could not be resolved',
  ERR_CANCELED: 'the service stopped waiting for the response',
};

/** Result of a delivery at the developer's own server. */
export interface ForwardedDeliveryResult {
  /** Status of the response; null if there is no response. */
  readonly status_code: number | null;
  /** Milliseconds from the request to the end of the response. */
  readonly duration_ms: number;
  /** Reason why there is no response; null if there is one. */
  readonly error: string | null;
}

/** Parses the `--forward-to` URL of the developer's server. The URL may omit `http://`. */
export function parseForwardAddress(text: string): string {
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null) throw new InvalidArgumentError('Expected a URL such as http://localhost:8080/hooks.');
  return url.href;
}

export function parseSigningSecret(text: string): string {
  if (/^whsec_[\w+/-]{16,}={0,2}$/.test(text)) return text;
  throw new InvalidArgumentError('Expected a secret: whsec_ and at least 16 base64 characters.');
}

/** Forwards deliveries with unchanged bodies and headers. */
export class WebhookDeliveryForwarder {
  /** @param secret secret with which the forwarder signs deliveries again; absent to keep the signatures */
  constructor(
    readonly url: string,
    private readonly secret: string | undefined,
  ) {}

  get hasOwnSecret(): boolean {
    return this.secret !== undefined;
  }

  /** Forwards a delivery. If the developer's server does not respond, returns 502 with the reason. Never throws. */
  async forwardDeliveryToLocalServer(
    request: DeliveryRequest,
  ): Promise<{ readonly answer: ReceiverResponseToDelivery; readonly forwarded: ForwardedDeliveryResult }> {
    const start = performance.now();
    const elapsedMs = () => Math.round(performance.now() - start);
    try {
      const answer = toDeliveryResponseFromAxios(await this.postDeliveryToLocalServer(request));
      return { answer, forwarded: { status_code: answer.status, duration_ms: elapsedMs(), error: null } };
    } catch (cause) {
      const error = describeError(cause);
      const body = Buffer.from(`listen: no response from ${this.url}: ${error}`);
      const answer = { status: 502, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body };
      return { answer, forwarded: { status_code: null, duration_ms: elapsedMs(), error } };
    }
  }

  private postDeliveryToLocalServer({ headers, body, signal }: DeliveryRequest): Promise<AxiosResponse<Buffer>> {
    const id = String(headers['service-event-id']);
    const signed = this.secret === undefined ? {} : createSignatureHeaders(this.secret, id, body);
    return axios.post<Buffer>(this.url, body, {
      headers: {
        ...SUPPRESSED_AXIOS_HEADERS,
        ...removeConnectionHeaders(headers),
        ...signed,
      } as RawAxiosRequestHeaders,
      signal,
      responseType: 'arraybuffer',
      decompress: false,
      maxRedirects: 0,
      proxy: false,
      transformRequest: (data: unknown) => data,
      validateStatus: () => true,
    });
  }
}

function toDeliveryResponseFromAxios({ status, headers, data }: AxiosResponse<Buffer>): ReceiverResponseToDelivery {
  return { status, headers: removeConnectionHeaders(headers as OutgoingHttpHeaders), body: data };
}

function removeConnectionHeaders<H extends IncomingHttpHeaders | OutgoingHttpHeaders>(headers: H): H {
  const kept = Object.entries(headers).filter(([name]) => !HEADERS_NOT_FORWARDED.includes(name.toLowerCase()));
  return Object.fromEntries(kept) as H;
}

/** Signs a delivery in both formats of the service: docs/reference/delivery.md#signature. */
function createSignatureHeaders(secret: string, id: string, body: Buffer): Readonly<Record<string, string>> {
  const t = Math.floor(Date.now() / 1_000);
  const hmac = (key: string | Buffer, prefix: string) => createHmac('sha256', key).update(prefix).update(body);
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return {
    'service-signature': `t=${t},v1=${hmac(secret, `${t}.`).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': String(t),
    'webhook-signature': `v1,${hmac(key, `${id}.${t}.`).digest('base64')}`,
  };
}

function describeError(cause: unknown): string {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  return CONNECTION_ERROR_MESSAGES[code] ? `${CONNECTION_ERROR_MESSAGES[code]} (${code})` : message || code;
}
