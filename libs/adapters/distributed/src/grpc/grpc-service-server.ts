import { setImmediate } from 'node:timers/promises';
import {
  type ChannelOptions,
  type Metadata,
  type Server,
  ServerCredentials,
  type ServerOptions,
  type ServerUnaryCall,
  type ServerWritableStream,
  setLogger,
  status,
} from '@grpc/grpc-js';
import type { PackageDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import type { Observable } from 'rxjs';
import { Controller, type INestMicroservice, type LoggerService, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GrpcMethod, type MicroserviceOptions, RpcException, Transport } from '@nestjs/microservices';
import 'reflect-metadata';
import { type Logger, type Metrics, toOriginLogFields, type RequestOrigin } from '@tracking/ports';
import {
  DEFAULT_GRPC_LIMITS,
  type GrpcLimits,
  type GrpcServerTls,
  createKeepaliveOptions,
  createMessageSizeOptions,
  readRequestOrigin,
  createBearerTokenInterceptor,
} from './grpc-options.ts';
import { createMessageStream, type SendMessage } from './message-stream.ts';
import { RunningGrpcCalls } from './running-calls.ts';
import {
  type AnswerMessage,
  toAnswerMessage,
  toErrorMessage,
  type LoadedProto,
  loadProto,
  type Parts,
  type RequestMessage,
  parseRequest,
  type ServiceProto,
} from './service-protos.ts';

/**
 * Number of turns of the event loop before an operation starts. After a process hung, its connections contain requests
 * that callers canceled or abandoned. Within these turns (measured) the server reads the cancellation or the end of the
 * connection, so that such requests do not start.
 */
const EVENT_LOOP_TURNS_BEFORE_START = 3;

export interface GrpcServiceServerOptions {
  readonly proto: ServiceProto;
  /** Address to listen on, `host:port`. */
  readonly address: string;
  /** Token that callers must send. */
  readonly token: string;
  /** TLS settings. If they are absent, connections are plain text. */
  readonly tls?: GrpcServerTls;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly limits?: Partial<GrpcLimits>;
}

/** A Nest microservice that serves the operations of this process, and describes them by server reflection. */
export class GrpcServiceServer {
  private readonly limits: GrpcLimits;
  private readonly loaded: LoadedProto;
  private readonly operations: OperationRegistry;
  private app: INestMicroservice | undefined;
  /**
   * The gRPC server inside the microservice. The shutdown of the microservice itself would wait for calls without a
   * time limit.
   */
  private transport: Server | undefined;

  constructor(private readonly options: GrpcServiceServerOptions) {
    this.limits = { ...DEFAULT_GRPC_LIMITS, ...options.limits };
    this.loaded = loadProto(options.proto);
    this.operations = new OperationRegistry(this.loaded, this.limits, options.logger);
    const help = 'Calls from other services that this process has not answered yet.';
    options.metrics.gauge('command_server_calls', help, [], () => this.operations.depth);
  }

  /**
   * Sets the operations. Call it before `listen`. @throws Error if the .proto file declares an operation that is
   * missing
   */
  serveOperations<T extends Parts<T>>(operations: T): void {
    this.operations.registerOperation(operations);
  }

  /** Starts to listen. @throws Error if the address is not available */
  async listenOnAddress(): Promise<void> {
    const { address, token, tls, logger, proto } = this.options;
    // Passes messages of the gRPC driver to the log, because the driver would print them otherwise.
    setLogger({ error: (message: string) => logger.warn({ source: 'grpc' }, message) });
    const bytes = createMessageSizeOptions(this.limits);
    const module = { module: OperationsModule, controllers: [createGrpcController(this.loaded, this.operations)] };
    this.app = await NestFactory.createMicroservice<MicroserviceOptions>(module, {
      logger: createNestLogger(logger),
      abortOnError: false,
      transport: Transport.GRPC,
      options: {
        package: proto.package,
        packageDefinition: this.loaded.definition,
        url: address,
        credentials: tls === undefined ? ServerCredentials.createInsecure() : createServerCredentials(tls),
        maxReceiveMessageLength: bytes.request,
        maxSendMessageLength: bytes.reply,
        keepalive: createKeepaliveOptions(this.limits),
        channelOptions: this.serverOptions(token) as ChannelOptions,
        gracefulShutdown: true,
        onLoadPackageDefinition: (definition: PackageDefinition, transport: Server) => {
          this.transport = transport;
          new ReflectionService(definition).addToServer(transport);
        },
      },
    });
    await this.app.listen();
  }

  /** Directs callers to other replicas, and waits for running calls for a limited time. */
  async closeServer(): Promise<void> {
    const { promise: late, resolve: giveUp } = Promise.withResolvers<void>();
    const patience = setTimeout(() => {
      this.options.logger.warn(
        { calls: this.operations.depth },
        'command server: closed although calls were still running',
      );
      this.transport?.forceShutdown();
      giveUp();
    }, this.limits.closeTimeoutMs);
    await Promise.race([this.closeAndWait(), late]);
    clearTimeout(patience);
  }

  /** Options that the framework passes to the server that it creates. */
  private serverOptions(token: string): ServerOptions {
    return {
      interceptors: [createBearerTokenInterceptor(token)],
      'grpc.max_connection_age_ms': this.limits.connectionAgeMs,
      'grpc.enable_channelz': 0,
    };
  }

  /**
   * Waits for all calls, including calls whose deadline has passed: the transport no longer knows them, but they may
   * still run.
   */
  private async closeAndWait(): Promise<void> {
    this.operations.endStreamedOperations();
    await this.app?.close();
    await this.operations.waitUntilIdle();
  }
}

class OperationsModule {}

function createServerCredentials({ ca, cert, key }: GrpcServerTls): ServerCredentials {
  const own = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) };
  return ServerCredentials.createSsl(ca === undefined ? null : Buffer.from(ca), [own], ca !== undefined);
}

/** Writes messages of the framework to the service's log, except those about its start. */
function createNestLogger(logger: Logger): LoggerService {
  return {
    log: () => undefined,
    warn: (message: unknown) => logger.warn({ source: 'nest' }, String(message)),
    error: (message: unknown) => logger.error({ source: 'nest' }, String(message)),
  };
}

/** Creates a controller class with a `@GrpcMethod` handler for each rpc. */
function createGrpcController({ parts }: LoadedProto, operations: OperationRegistry): Type {
  class OperationsController {}
  Controller()(OperationsController);
  for (const { service, rpcs } of parts) {
    for (const { method, name, isStreamed } of rpcs) {
      const handle = isStreamed ? createStreamHandler(name, operations) : createGrpcHandler(name, operations);
      const handler = { value: handle, configurable: true, enumerable: true, writable: true };
      Object.defineProperty(OperationsController.prototype, name, handler);
      GrpcMethod(service, method)(OperationsController.prototype, name, handler);
    }
  }
  return OperationsController;
}

function createGrpcHandler(name: string, operations: OperationRegistry) {
  return async (
    request: RequestMessage,
    metadata: Metadata,
    call: ServerUnaryCall<RequestMessage, AnswerMessage>,
  ): Promise<AnswerMessage> => {
    for (let turn = 0; turn < EVENT_LOOP_TURNS_BEFORE_START; turn += 1) await setImmediate();
    if (call.cancelled)
      throw new RpcException({ code: status.CANCELLED, message: 'the caller no longer waits for this call' });
    return operations.toAnswer(name, request, readRequestOrigin(metadata));
  };
}

/** Returns a handler whose response is a stream of messages until the operation ends or the caller is gone. */
function createStreamHandler(name: string, operations: OperationRegistry) {
  return (
    request: RequestMessage,
    _metadata: Metadata,
    call: ServerWritableStream<RequestMessage, AnswerMessage>,
  ): Observable<AnswerMessage> =>
    createMessageStream(call, (send, ending) => operations.runStream(name, request, send, ending));
}

/** An operation. The listener and the signal are only for streamed operations. */
type Operation = (request: object, onMessage?: SendMessage, signal?: AbortSignal) => Promise<unknown>;
type ByName<T> = Readonly<Record<string, T | undefined>>;

/** Registry of the operations of this process and their running calls. */
class OperationRegistry {
  /** Registered values by the name of their rpc. */
  private readonly operations = new Map<string, Operation>();
  private readonly running: RunningGrpcCalls;
  private readonly streams = new Set<AbortController>();

  constructor(
    private readonly loaded: LoadedProto,
    private readonly limits: GrpcLimits,
    private readonly logger: Logger,
  ) {
    this.running = new RunningGrpcCalls(limits);
  }

  get depth(): number {
    return this.running.count;
  }

  /**
   * Registers the operations of this process. @throws Error if the .proto file declares an operation that is missing
   */
  registerOperation<T extends Parts<T>>(parts: T): void {
    const served = parts as unknown as ByName<ByName<Operation>>;
    for (const { name, rpcs } of this.loaded.parts) {
      const part = served[name];
      for (const rpc of rpcs) {
        const operation = part?.[rpc.operation];
        if (operation === undefined) throw new Error(`${rpc.name} is not an operation of ${this.loaded.proto.name}`);
        this.operations.set(rpc.name, operation.bind(part));
      }
    }
  }

  /** Performs one call. Never rejects. @param name name of the rpc */
  async toAnswer(name: string, request: RequestMessage, origin: Partial<RequestOrigin>): Promise<AnswerMessage> {
    const bytes = Buffer.byteLength(request.json ?? '');
    return this.running.countGrpcCall(this.runOperation(name, request, origin, bytes), bytes);
  }

  /**
   * Runs a streamed operation. @param ending aborts when the caller is gone, and is aborted when this process stops
   * @throws any error, which is also in the log
   */
  async runStream(
    name: string,
    request: RequestMessage,
    onMessage: SendMessage,
    ending: AbortController,
  ): Promise<void> {
    this.streams.add(ending);
    try {
      await this.findOperation(name, 0)(parseRequest(request), onMessage, ending.signal);
    } catch (error) {
      const isExpected = toErrorMessage(error) !== undefined;
      if (isExpected) this.logger.info({ method: name, reason: String(error) }, 'command server: a stream was refused');
      else this.logger.error({ method: name, err: error }, 'command server: a streamed operation failed');
      throw error;
    } finally {
      this.streams.delete(ending);
    }
  }

  /** Ends all streamed operations. Their callers continue with other processes. */
  endStreamedOperations(): void {
    for (const stream of this.streams) stream.abort();
  }

  /** Resolves when all running calls have ended. */
  async waitUntilIdle(): Promise<void> {
    await this.running.waitUntilSettled();
  }

  private async runOperation(
    name: string,
    request: RequestMessage,
    origin: Partial<RequestOrigin>,
    requestBytes: number,
  ): Promise<AnswerMessage> {
    const started = performance.now();
    const about = { ...toOriginLogFields(origin), method: name };
    const ended = (outcome: string) => {
      // Calls that serve no client request are not logged, because processes constantly make them.
      if (origin.request_id === undefined) return;
      const duration_ms = Math.round((performance.now() - started) * 10) / 10;
      this.logger.info({ ...about, outcome, duration_ms }, 'call');
    };
    try {
      const answer = toAnswerMessage(await this.findOperation(name, requestBytes)(parseRequest(request)));
      if (Buffer.byteLength(answer.json ?? '') > this.limits.maxAnswerBytes) {
        throw new Error(`the response is larger than ${this.limits.maxAnswerBytes} bytes`);
      }
      ended('answered');
      return answer;
    } catch (error) {
      const answer = toErrorMessage(error);
      ended(Object.keys(answer ?? {})[0] ?? 'failed');
      if (answer !== undefined) return answer;
      this.logger.error({ ...about, err: error }, 'command server: an operation failed');
      return { failed: `${this.loaded.proto.name}.${name} failed` };
    }
  }

  /** Returns the operation if a call of this size may start. @throws Busy */
  private findOperation(name: string, requestBytes: number): Operation {
    this.running.throwIfFull(this.loaded.proto.name, requestBytes, this.streams.size);
    const operation = this.operations.get(name);
    if (operation === undefined) throw new Error(`this process does not implement the operation ${name}`);
    return operation;
  }
}
