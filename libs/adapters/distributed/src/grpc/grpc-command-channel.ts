import { setTimeout as after } from 'node:timers/promises';
import { Metadata, credentials, status, type ChannelCredentials, type ServiceError } from '@grpc/grpc-js';
import { ClientProxyFactory, Transport, type ClientGrpcProxy } from '@nestjs/microservices';
import type { JsonObject, JsonValue } from '@tracking/contracts';
import {
  Busy,
  Unavailable,
  type CallOrigin,
  type CommandChannel,
  type Counter,
  type Logger,
  type Metrics,
} from '@tracking/ports';
import { firstValueFrom, type Observable } from 'rxjs';
import { DEFAULT_LIMITS, keepaliveOf, messageBytes, type GrpcLimits, type GrpcTls } from './grpc-options.ts';
import {
  AUTHORIZATION,
  PROTOCOL,
  REQUEST_ID,
  TRACEPARENT,
  bearer,
  type CallReply,
  type CallRequest,
} from './protocol.ts';
import { answerOf, type Reply } from './reply.ts';

export interface GrpcCommandChannelOptions {
  /** Where each service is, as `dns:///host:port`: its replicas are all the addresses of that name. */
  readonly services: Readonly<Record<string, string>>;
  readonly token: string;
  /** `true` trusts the system's authorities. Plain text without. */
  readonly tls?: true | GrpcTls;
  readonly origin?: CallOrigin;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly limits?: Partial<GrpcLimits>;
}

interface CommandsClient {
  /** @param options deadline: epoch milliseconds */
  call(request: CallRequest, metadata: Metadata, options: { readonly deadline: number }): Observable<CallReply>;
}

/** Before a call is repeated; without any replica it is not repeated but waits for one. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

/** How a call ends whose connection was lost, by what of it the driver noticed first: whether it was done is unknown. */
const LOST: ReadonlySet<number> = new Set([status.UNAVAILABLE, status.CANCELLED, status.INTERNAL]);

/** Calls to the replicas of each service in turn. What one has not answered when it is lost is repeated on another. */
export class GrpcCommandChannel implements CommandChannel {
  private readonly limits: GrpcLimits;
  private readonly clients: readonly ClientGrpcProxy[];
  private readonly services = new Map<string, CommandsClient>();
  private readonly metadata = new Metadata({ waitForReady: true });
  private readonly underWay = new Set<Promise<unknown>>();
  private readonly silent = new Set<string>();
  private readonly logger: Logger;
  private readonly repeats: Counter;
  private readonly origin: CallOrigin;
  private isClosed = false;

  constructor({ services, token, tls, origin, logger, metrics, limits }: GrpcCommandChannelOptions) {
    this.origin = origin ?? (() => undefined);
    this.limits = { ...DEFAULT_LIMITS, ...limits };
    this.metadata.set(AUTHORIZATION, bearer(token));
    this.clients = Object.entries(services).map(([service, url]) => {
      const client = clientOf(url, tls, this.limits);
      this.services.set(service, client.getService<CommandsClient>('Commands'));
      return client;
    });
    this.logger = logger;
    const help = 'Calls to other services that are not answered yet';
    metrics.gauge('command_channel_calls', help, [], () => this.underWay.size);
    this.repeats = metrics.counter('command_channel_repeats_total', 'Calls repeated after a lost connection', [
      'service',
    ]);
  }

  async call(service: string, method: string, request: JsonObject, deadlineMs: number): Promise<JsonValue> {
    const client = this.services.get(service);
    if (this.isClosed) throw new Unavailable(service, 'the command channel is closed');
    if (client === undefined) throw new Unavailable(service, 'its address is not known');
    if (this.underWay.size >= this.limits.maxCalls) throw new Busy(service, 'too many calls are under way');
    const call: CallRequest = { service, method, request: JSON.stringify(request) };
    if (Buffer.byteLength(call.request) > this.limits.maxRequestBytes) {
      throw new Error(`${service}.${method}: the request is larger than ${this.limits.maxRequestBytes} bytes`);
    }
    const calling = this.replyTo(client, call, deadlineMs);
    this.underWay.add(calling);
    try {
      return answerOf(await calling);
    } finally {
      this.underWay.delete(calling);
    }
  }

  /** Takes no more calls, and lets those under way finish. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.allSettled(this.underWay);
    for (const client of this.clients) client.close();
  }

  private async replyTo(client: CommandsClient, call: CallRequest, deadlineMs: number): Promise<Reply> {
    const { service, method } = call;
    const metadata = this.metadataOfCall();
    const end = performance.now() + deadlineMs;
    let reason = '';
    for (let pause = FIRST_PAUSE_MS; performance.now() < end; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const deadline = Date.now() + end - performance.now();
      try {
        const { reply } = await firstValueFrom(client.call(call, metadata, { deadline }));
        if (this.silent.delete(service)) this.logger.info({ service }, 'command channel: answers again');
        return JSON.parse(reply) as Reply;
      } catch (error) {
        const { code, details } = error as ServiceError;
        reason = details;
        if (code === status.DEADLINE_EXCEEDED) break;
        if (code === status.UNAUTHENTICATED) throw this.unavailable(service, 'does not know the token', reason);
        if (!LOST.has(code)) throw new Error(`${service}.${method}: ${status[code]}`);
      }
      const left = Math.max(0, end - performance.now());
      await after(Math.min(left, pause * (0.5 + Math.random() / 2)));
      this.repeats.add(1, { service });
    }
    throw this.unavailable(service, `no answer within ${deadlineMs} ms`, reason);
  }

  private metadataOfCall(): Metadata {
    const origin = this.origin();
    if (origin === undefined) return this.metadata;
    const metadata = this.metadata.clone();
    metadata.set(REQUEST_ID, origin.request_id);
    metadata.set(TRACEPARENT, origin.traceparent);
    return metadata;
  }

  /** Why a service does not answer stands in the log once, not for every call. */
  private unavailable(service: string, message: string, reason: string): Unavailable {
    if (!this.silent.has(service)) this.logger.warn({ service, reason }, 'command channel: no answer');
    this.silent.add(service);
    return new Unavailable(service, message);
  }
}

function clientOf(url: string, tls: true | GrpcTls | undefined, limits: GrpcLimits): ClientGrpcProxy {
  const bytes = messageBytes(limits);
  return ClientProxyFactory.create({
    transport: Transport.GRPC,
    options: {
      ...PROTOCOL,
      url,
      credentials: tls === undefined ? credentials.createInsecure() : secured(tls === true ? {} : tls),
      maxSendMessageLength: bytes.request,
      maxReceiveMessageLength: bytes.reply,
      keepalive: keepaliveOf(limits),
      channelOptions: {
        'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
        'grpc.service_config_disable_resolution': 1,
        'grpc.dns_min_time_between_resolutions_ms': 2_000,
        'grpc.initial_reconnect_backoff_ms': 100,
        'grpc.max_reconnect_backoff_ms': 2_000,
        // What is repeated, and until when, is decided in one place: here.
        'grpc.enable_retries': 0,
        // A proxy in the environment is for the way out.
        'grpc.enable_http_proxy': 0,
        'grpc.enable_channelz': 0,
      },
    },
  }) as ClientGrpcProxy;
}

function secured({ ca, cert, key }: GrpcTls): ChannelCredentials {
  const pem = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
  return credentials.createSsl(pem(ca), pem(key), pem(cert));
}
