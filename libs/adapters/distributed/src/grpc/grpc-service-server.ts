import { setImmediate } from 'node:timers/promises';
import {
  type ChannelOptions,
  type Metadata,
  type Server,
  ServerCredentials,
  type ServerDuplexStream,
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
import { GrpcMethod, GrpcStreamCall, type MicroserviceOptions, RpcException, Transport } from '@nestjs/microservices';
import 'reflect-metadata';
import type { Logger, Metrics } from '@tracking/ports';
import {
  DEFAULT_GRPC_LIMITS,
  type GrpcLimits,
  type GrpcServerTls,
  createKeepaliveOptions,
  createGrpcMessageSizeOptions,
  readClientRequestIdsFromMetadata,
  createTokenCheckInterceptor,
} from './grpc-options.ts';
import { CallStreamHandler } from './call-stream-handler.ts';
import { createMessageStream } from './message-stream.ts';
import { OperationRegistry } from './operation-registry.ts';
import {
  type AnswerBatch,
  type OperationAnswerMessage,
  type CallBatch,
  MULTIPLEXED_CALLS_GRPC_SERVICE_NAME,
  type LoadedProto,
  loadProto,
  type Parts,
  type GrpcRequestMessage,
  type GrpcServiceProtoFile,
} from './service-protos.ts';

/**
 * Number of turns of the event loop before an operation starts. After a process hung, its connections contain requests
 * that callers canceled or abandoned. Within these turns (measured) the server reads the cancellation or the end of the
 * connection, so that such requests do not start.
 */
const EVENT_LOOP_TURNS_AWAITED_BEFORE_OPERATION = 3;

export interface GrpcServiceServerOptions {
  readonly proto: GrpcServiceProtoFile;
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
  private readonly callStreams: CallStreamHandler;
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
    this.callStreams = new CallStreamHandler({
      rpcs: new Map(this.loaded.parts.flatMap(({ rpcs }) => rpcs.map((rpc) => [rpc.name, rpc]))),
      answerCall: (method, request, origin) => this.operations.executeGrpcOperationCall(method, request, origin),
      turnsBeforeStart: EVENT_LOOP_TURNS_AWAITED_BEFORE_OPERATION,
    });
    const help = 'Calls from other services that this process has not answered yet.';
    options.metrics.createGauge('command_server_calls', help, [], () => this.operations.depth);
  }

  /**
   * Sets the operations. Call it before `listen`. @throws Error if the .proto file declares an operation that is
   * missing
   */
  setServedGrpcOperations<T extends Parts<T>>(operations: T): void {
    this.operations.registerOperations(operations);
  }

  /** Starts to listen. @throws Error if the address is not available */
  async listenOnAddress(): Promise<void> {
    const { address, token, tls, logger, proto } = this.options;
    // Passes messages of the gRPC driver to the log, because the driver would print them otherwise.
    setLogger({ error: (message: string) => logger.warn({ source: 'grpc' }, message) });
    const bytes = createGrpcMessageSizeOptions(this.limits);
    const module = { module: OperationsModule, controllers: [this.createControllerClassForGrpcServer()] };
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
        channelOptions: this.createGrpcServerOptions(token) as ChannelOptions,
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
  async drainAndCloseGrpcServer(): Promise<void> {
    const { promise: late, resolve: giveUp } = Promise.withResolvers<void>();
    const patience = setTimeout(() => {
      this.options.logger.warn(
        { calls: this.operations.depth },
        'command server: closed although calls were still running',
      );
      this.transport?.forceShutdown();
      giveUp();
    }, this.limits.closeTimeoutMs);
    await Promise.race([this.closeServerAfterRunningCalls(), late]);
    clearTimeout(patience);
  }

  /** Creates a controller class for the operations of this process and for calls over streams. */
  private createControllerClassForGrpcServer(): Type {
    const controller = createGrpcController(this.loaded, this.operations);
    const value = (call: ServerDuplexStream<CallBatch, AnswerBatch>) => this.callStreams.serveCallStream(call);
    addControllerMethod(
      controller,
      MULTIPLEXED_CALLS_GRPC_SERVICE_NAME,
      value,
      GrpcStreamCall(MULTIPLEXED_CALLS_GRPC_SERVICE_NAME, 'Run'),
    );
    return controller;
  }

  /** Options that the framework passes to the server that it creates. */
  private createGrpcServerOptions(token: string): ServerOptions {
    return {
      interceptors: [createTokenCheckInterceptor(token)],
      'grpc.max_connection_age_ms': this.limits.connectionAgeMs,
      'grpc.enable_channelz': 0,
    };
  }

  /**
   * Waits for all calls, including calls whose deadline has passed: the transport no longer knows them, but they may
   * still run.
   */
  private async closeServerAfterRunningCalls(): Promise<void> {
    this.operations.endStreamedOperations();
    this.callStreams.stopAcceptingCalls();
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
  class GrpcOperationsController {}
  Controller()(GrpcOperationsController);
  for (const { service, rpcs } of parts) {
    for (const { method, name, isStreamed } of rpcs) {
      const handle = isStreamed ? createStreamHandler(name, operations) : createGrpcHandler(name, operations);
      addControllerMethod(GrpcOperationsController, name, handle, GrpcMethod(service, method));
    }
  }
  return GrpcOperationsController;
}

/** Adds a decorated method to a controller class. */
function addControllerMethod(controller: Type, name: string, value: unknown, decorate: MethodDecorator): void {
  const handler = { value, configurable: true, enumerable: true, writable: true };
  Object.defineProperty(controller.prototype, name, handler);
  decorate(controller.prototype as object, name, handler);
}

function createGrpcHandler(name: string, operations: OperationRegistry) {
  return async (
    request: GrpcRequestMessage,
    metadata: Metadata,
    call: ServerUnaryCall<GrpcRequestMessage, OperationAnswerMessage>,
  ): Promise<OperationAnswerMessage> => {
    for (let turn = 0; turn < EVENT_LOOP_TURNS_AWAITED_BEFORE_OPERATION; turn += 1) await setImmediate();
    if (call.cancelled)
      throw new RpcException({ code: status.CANCELLED, message: 'the caller no longer waits for this call' });
    return operations.executeGrpcOperationCall(name, request, readClientRequestIdsFromMetadata(metadata));
  };
}

/** Returns a handler whose response is a stream of messages until the operation ends or the caller is gone. */
function createStreamHandler(name: string, operations: OperationRegistry) {
  return (
    request: GrpcRequestMessage,
    _metadata: Metadata,
    call: ServerWritableStream<GrpcRequestMessage, OperationAnswerMessage>,
  ): Observable<OperationAnswerMessage> =>
    createMessageStream(call, (send, ending) => operations.runStreamedOperation(name, request, send, ending));
}
