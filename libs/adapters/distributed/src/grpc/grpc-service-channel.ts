import { type Client, Metadata, status, type ServiceError } from '@grpc/grpc-js';
import type { ClientGrpcProxy } from '@nestjs/microservices';
import { DomainError } from '@tracking/contracts';
import {
  UnavailableError,
  convertToUnknownOutcomeError,
  type Counter,
  type Logger,
  type Metrics,
  type CausingRequest,
} from '@tracking/ports';
import { monotonicMs, retry } from '@tracking/resilience';
import { firstValueFrom, type Observable } from 'rxjs';
import { CallNotStartedError, StreamedOperationCaller, MAX_STREAMED_JSON_LENGTH } from './call-streams.ts';
import { createGrpcClient } from './grpc-client.ts';
import {
  DEFAULT_GRPC_LIMITS,
  type GrpcLimits,
  type GrpcClientTls,
  addCausingRequestIdsToMetadata,
  setBearerToken,
} from './grpc-options.ts';
import { receiveStreamedMessages } from './message-stream.ts';
import { addRoutingKeyToCall } from './replica-balancer.ts';
import { RunningGrpcCalls } from './running-calls.ts';
import {
  type OperationAnswerMessage,
  MULTIPLEXED_CALLS_GRPC_SERVICE_NAME,
  readAnswerResultOrThrow,
  type LoadedGrpcServiceAndRpcs,
  loadProto,
  type Parts,
  toGrpcRequestMessage,
  type GrpcRequestMessage,
  type ProtoOperation,
  type GrpcServiceProtoFile,
} from './service-protos.ts';

/** Milliseconds before a call is repeated. If no replica is available, the call waits for one instead. */
const FIRST_RETRY_PAUSE_MS = 10;
const MAX_RETRY_PAUSE_MS = 500;
/**
 * Status codes of calls whose connection was lost, depending on what the driver notices first. The outcome of such a
 * call is unknown.
 */
const LOST_CONNECTION_CODES: ReadonlySet<number> = new Set([status.UNAVAILABLE, status.CANCELLED, status.INTERNAL]);

/** Message for a refused token. It is always a warning, because a retry does not help. */
const TOKEN_REFUSED_MESSAGE = 'the service refuses the token; use the same service token in both services';

/** Running calls of each open channel of a process, by its metrics. A process has one gauge for all its channels. */
const RUNNING_GRPC_CALLS_BY_METRICS = new WeakMap<Metrics, Set<RunningGrpcCalls>>();

/** Number of channels that this process has opened, for their names. */
let openedChannelCount = 0;

/**
 * Returns the key that selects the replica for a request. All callers send requests with the same key to the same
 * replica. Requests without a key are sent to all replicas in turn.
 */
export type FindRoutingKey = (request: object) => string | undefined;

export interface GrpcServiceChannelOptions {
  /** Address of each service, as `dns:///host:port`. All addresses of this host name are replicas of the service. */
  readonly services: Readonly<Record<string, string>>;
  readonly token: string;
  /**
   * TLS settings; `true` trusts the certificate authorities of the system. If they are absent, connections are plain
   * text.
   */
  readonly tls?: true | GrpcClientTls;
  /** Returns the request that a call serves. The log lines of the called service contain its ids. */
  readonly origin?: () => CausingRequest | undefined;
  readonly logger: Logger;
  /** Level of the log line about a service that does not respond; `warn` by default. */
  readonly unavailableLogLevel?: 'info' | 'warn';
  readonly metrics: Metrics;
  readonly limits?: Partial<GrpcLimits>;
}

/** Client functions by method name. */
type ServiceClient = Readonly<
  Record<
    string,
    /** Calls the method. @param options `deadline` in epoch milliseconds */
    (
      request: GrpcRequestMessage,
      metadata: Metadata,
      options: { readonly deadline?: number },
    ) => Observable<OperationAnswerMessage>
  >
>;

/** An operation of a service with the client that calls it. */
interface ServiceOperationWithClient {
  /** Name of the service for operators. */
  readonly service: string;
  readonly rpc: ProtoOperation;
  readonly client: ServiceClient;
  readonly streams: StreamedOperationCaller;
  readonly deadlineMs: number;
  readonly findRoutingKey: FindRoutingKey;
}

/**
 * Calls the operations of other processes: requests with a routing key on the replica that the key selects, others on
 * all replicas in turn. Calls are made at least once: if a replica is lost before it responds, the call is repeated on
 * another. So requests that write have a command id, by which the service recognizes repetitions. `DomainError`,
 * `UnavailableError` and `BusyError` are rethrown. After a lost attempt, which may have written or may still write,
 * `BusyError` and the refusal of a command become `UnavailableError`. Any other error becomes a plain `Error`, whose
 * details are only in the service's log.
 */
export class GrpcServiceChannel {
  private readonly limits: GrpcLimits;
  private readonly clients: ClientGrpcProxy[] = [];
  private readonly streams: StreamedOperationCaller[] = [];
  private readonly metadata = new Metadata({ waitForReady: true });
  private readonly running: RunningGrpcCalls;
  /** Running calls of each open channel of this process. */
  private readonly runningInProcess: Set<RunningGrpcCalls>;
  private readonly silent = new Set<string>();
  private readonly repeats: Counter;
  private readonly closing = new AbortController();

  constructor(private readonly options: GrpcServiceChannelOptions) {
    this.limits = { ...DEFAULT_GRPC_LIMITS, ...options.limits };
    this.running = new RunningGrpcCalls(this.limits);
    setBearerToken(this.metadata, options.token);
    const { metrics } = options;
    const help = 'Calls to other services without a response yet.';
    const all = RUNNING_GRPC_CALLS_BY_METRICS.get(metrics) ?? new Set();
    RUNNING_GRPC_CALLS_BY_METRICS.set(metrics, all.add(this.running));
    this.runningInProcess = all;
    metrics.createGauge('command_channel_calls', help, [], () => [...all].reduce((sum, { count }) => sum + count, 0));
    this.repeats = metrics.createCounter(
      'command_channel_repeats_total',
      'Calls to other services that were repeated after a lost connection.',
      ['service'],
    );
  }

  /**
   * Returns the operations of a service, by the parts of its .proto file. They throw the errors of the service, and
   * `UnavailableError` without a response in time, in which case the outcome is unknown.
   * @param deadlineMs of each call; must exceed the service's own, whose errors are more specific
   * @param findRoutingKey by default, no request has a routing key
   * @throws Error if the address of the service is not known
   */
  createGrpcClientOperations<T extends Parts<T>>(
    proto: GrpcServiceProtoFile,
    deadlineMs: number,
    findRoutingKey: FindRoutingKey = () => undefined,
  ): T {
    const url = this.options.services[proto.name];
    if (url === undefined) throw new Error(`the address of service ${proto.name} is not configured`);
    const loaded = loadProto(proto);
    const channelName = `${proto.name} ${(openedChannelCount += 1)}`;
    const client = createGrpcClient(url, loaded, { channelName, tls: this.options.tls, limits: this.limits });
    this.clients.push(client);
    const streams = new StreamedOperationCaller({
      client: client.getClientByServiceName<Client>(MULTIPLEXED_CALLS_GRPC_SERVICE_NAME),
      rpc: loaded.callStream,
      channelName,
      addToken: (metadata) => setBearerToken(metadata, this.options.token),
      maxAgeMs: this.limits.connectionAgeMs,
    });
    this.streams.push(streams);
    const operationsOf = ({ service, rpcs }: LoadedGrpcServiceAndRpcs) => {
      const serviceClient = client.getService<ServiceClient>(service);
      return Object.fromEntries(
        rpcs.map((rpc) => {
          const callee = { service: proto.name, rpc, client: serviceClient, streams, deadlineMs, findRoutingKey };
          if (rpc.isStreamed) return [rpc.operation, this.createStreamedCall(callee)];
          return [rpc.operation, (request: object = {}) => this.callGrpcServiceOperation(callee, request)];
        }),
      );
    };
    return Object.fromEntries(loaded.parts.map((part) => [part.name, operationsOf(part)])) as unknown as T;
  }

  /** Refuses new calls and waits for running ones. */
  async closeChannel(): Promise<void> {
    this.closing.abort();
    await this.running.waitForRunningGrpcCalls();
    this.runningInProcess.delete(this.running);
    for (const streams of this.streams) streams.closeAllOperationStreams();
    for (const client of this.clients) client.close();
  }

  private async callGrpcServiceOperation(callee: ServiceOperationWithClient, request: object): Promise<unknown> {
    const { service, rpc } = callee;
    this.throwIfClosed(service);
    const message = toGrpcRequestMessage(request, rpc.fields);
    const bytes = Buffer.byteLength(message.json ?? '');
    this.running.throwIfTooManyCalls(service, bytes);
    if (bytes > this.limits.maxRequestBytes) {
      throw new Error(`${service}.${rpc.name}: the request is larger than ${this.limits.maxRequestBytes} bytes`);
    }
    const routingKey = callee.findRoutingKey(request);
    return this.running.countRunningGrpcCall(this.callWithRetries(callee, message, routingKey), bytes);
  }

  /**
   * Returns a function that receives the messages of a streamed operation. It is not repeated after a lost connection.
   */
  private createStreamedCall({ service, rpc, client }: ServiceOperationWithClient) {
    return async (request: object, onMessage: (message: unknown) => void, signal: AbortSignal): Promise<void> => {
      this.throwIfClosed(service);
      const message = toGrpcRequestMessage(request, rpc.fields);
      try {
        const messages = client[rpc.method]?.(message, this.createCallMetadata(undefined, this.options.origin?.()), {});
        await receiveStreamedMessages(messages, onMessage, AbortSignal.any([signal, this.closing.signal]));
      } catch (error) {
        const { code, details } = error as Partial<ServiceError>;
        if (code === status.UNAUTHENTICATED)
          throw this.logAndCreateUnavailableError(service, TOKEN_REFUSED_MESSAGE, details);
        throw code === undefined
          ? error
          : new UnavailableError(service, `${rpc.name} ended: ${details ?? status[code]}`);
      }
    };
  }

  private throwIfClosed(service: string): void {
    if (!this.closing.signal.aborted) return;
    throw new UnavailableError(service, 'cannot call a service: the command channel is closed');
  }

  private async callWithRetries(
    { service, rpc, client, streams, deadlineMs }: ServiceOperationWithClient,
    message: GrpcRequestMessage,
    routingKey: string | undefined,
  ): Promise<unknown> {
    const end = monotonicMs() + deadlineMs;
    const origin = this.options.origin?.();
    let metadata: Metadata | undefined;
    let lostAttempts = 0;
    const call = async (failures: number) => {
      lostAttempts = failures;
      if (failures > 0) this.repeats.add(1, { service });
      else if (routingKey !== undefined && canSendCallOverStream(rpc, message)) {
        const request = { method: rpc.name, request: rpc.serializeRequest(message), routingKey, origin };
        const answer = await ignoreCallNotStartedError(
          streams.callReplicaOperationOverStream({ ...request, timeoutMs: deadlineMs }),
        );
        if (answer !== undefined) return answer;
      }
      metadata ??= this.createCallMetadata(routingKey, origin);
      const deadline = Date.now() + end - monotonicMs();
      const calling = client[rpc.method]?.(message, metadata, { deadline });
      if (calling === undefined) throw new Error(`the client of ${service} has no operation ${rpc.name}`);
      return firstValueFrom(calling);
    };
    const isTransient = (error: unknown) => LOST_CONNECTION_CODES.has((error as ServiceError).code);
    const pauses = { firstPauseMs: FIRST_RETRY_PAUSE_MS, maxPauseMs: MAX_RETRY_PAUSE_MS };
    const answer = await retry(call, { deadline: end, isTransient, ...pauses }).catch((error: unknown) => {
      const { code, details } = error as ServiceError;
      if (code === status.UNAUTHENTICATED)
        throw this.logAndCreateUnavailableError(service, TOKEN_REFUSED_MESSAGE, details);
      if (!LOST_CONNECTION_CODES.has(code) && code !== status.DEADLINE_EXCEEDED)
        throw new Error(`${service}.${rpc.name}: ${status[code]}`);
      throw this.logAndCreateUnavailableError(service, `the service did not respond within ${deadlineMs} ms`, details);
    });
    if (this.silent.delete(service))
      this.options.logger.info({ service }, 'command channel: the service responds again');
    try {
      return readAnswerResultOrThrow(answer);
    } catch (error) {
      if (lostAttempts === 0) throw error;
      if (error instanceof DomainError && rpc.isCommand) {
        const options = { cause: error };
        throw new UnavailableError(
          service,
          'a repeated call was refused after the response of an earlier attempt was lost',
          options,
        );
      }
      throw convertToUnknownOutcomeError(error);
    }
  }

  private createCallMetadata(routingKey: string | undefined, origin: CausingRequest | undefined): Metadata {
    if (origin === undefined && routingKey === undefined) return this.metadata;
    const metadata = this.metadata.clone();
    if (origin !== undefined) addCausingRequestIdsToMetadata(metadata, origin);
    if (routingKey !== undefined) addRoutingKeyToCall(metadata, routingKey);
    return metadata;
  }

  /** Logs the reason only once while the service is unavailable, instead of for every call. */
  private logAndCreateUnavailableError(service: string, message: string, reason: string | undefined): UnavailableError {
    const { logger, unavailableLogLevel = 'warn' } = this.options;
    if (!this.silent.has(service)) {
      const level = message === TOKEN_REFUSED_MESSAGE ? 'warn' : unavailableLogLevel;
      const fields = { called: service, reason };
      logger[level](fields, 'command channel: the service does not respond; retrying');
    }
    this.silent.add(service);
    return new UnavailableError(service, message);
  }
}

/** Returns true for commands that are small enough. Queries can have large answers. */
function canSendCallOverStream({ isCommand }: ProtoOperation, { json = '' }: GrpcRequestMessage): boolean {
  return isCommand && json.length <= MAX_STREAMED_JSON_LENGTH;
}

/** Resolves with undefined if the call was not started. Otherwise settles like the call. */
async function ignoreCallNotStartedError<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof CallNotStartedError) return undefined;
    throw error;
  }
}
