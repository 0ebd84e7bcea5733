import 'reflect-metadata';
import { ServerCredentials, setLogger, type ChannelOptions, type Server, type ServerOptions } from '@grpc/grpc-js';
import type { PackageDefinition } from '@grpc/proto-loader';
import type { INestMicroservice, LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Transport, type MicroserviceOptions } from '@nestjs/microservices';
import type { Logger, Metrics } from '@tracking/ports';
import { ReflectionService } from '@grpc/reflection';
import { requiresToken } from './call-metadata.ts';
import { DEFAULT_LIMITS, keepaliveOf, messageBytes, type GrpcLimits, type GrpcServerTls } from './grpc-options.ts';
import { controllerOf } from './operations-controller.ts';
import { ServedOperations } from './served-operations.ts';
import { loadProto, type LoadedProto, type Parts, type ServiceProto } from './service-protos.ts';

export interface GrpcServiceServerOptions {
  /** What is served. */
  readonly proto: ServiceProto;
  /** `host:port` */
  readonly address: string;
  /** Whoever does not know it is not answered. */
  readonly token: string;
  /** Plain text without. */
  readonly tls?: GrpcServerTls;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly limits?: Partial<GrpcLimits>;
}

/** A Nest microservice that answers the operations of this process. What they are can be asked by server reflection. */
export class GrpcServiceServer {
  private readonly limits: GrpcLimits;
  private readonly loaded: LoadedProto;
  private readonly operations: ServedOperations;
  private app: INestMicroservice | undefined;
  /** Inside the microservice, which waits for its last call without end. */
  private transport: Server | undefined;

  constructor(private readonly options: GrpcServiceServerOptions) {
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.loaded = loadProto(options.proto);
    this.operations = new ServedOperations(this.loaded, this.limits, options.logger);
    const help = 'Calls of other services that this process has not answered yet';
    options.metrics.gauge('command_server_calls', help, [], () => this.operations.depth);
  }

  /** To be said before it listens. @throws Error where the .proto file has what is no operation */
  serve<T extends Parts<T>>(operations: T): void {
    this.operations.add(operations);
  }

  /** @throws Error where the address cannot be had */
  async listen(): Promise<void> {
    const { address, token, tls, logger, proto } = this.options;
    // The driver's own lines, which it would print.
    setLogger({ error: (message: string) => logger.warn({ source: 'grpc' }, message) });
    const bytes = messageBytes(this.limits);
    const module = { module: OperationsModule, controllers: [controllerOf(this.loaded, this.operations)] };
    this.app = await NestFactory.createMicroservice<MicroserviceOptions>(module, {
      logger: nestLogger(logger),
      abortOnError: false,
      transport: Transport.GRPC,
      options: {
        package: proto.package,
        packageDefinition: this.loaded.definition,
        url: address,
        credentials: tls === undefined ? ServerCredentials.createInsecure() : secured(tls),
        maxReceiveMessageLength: bytes.request,
        maxSendMessageLength: bytes.reply,
        keepalive: keepaliveOf(this.limits),
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

  /** Sends callers to other replicas, and lets the calls under way finish, for a time. */
  async close(): Promise<void> {
    const { promise: late, resolve: giveUp } = Promise.withResolvers<void>();
    const patience = setTimeout(() => {
      this.options.logger.warn({ calls: this.operations.depth }, 'command server: closed with calls under way');
      this.transport?.forceShutdown();
      giveUp();
    }, this.limits.closeTimeoutMs);
    await Promise.race([this.finish(), late]);
    clearTimeout(patience);
  }

  /** The framework hands all of them on to the server that it makes. */
  private serverOptions(token: string): ServerOptions {
    return {
      interceptors: [requiresToken(token)],
      'grpc.max_connection_age_ms': this.limits.connectionAgeMs,
      'grpc.enable_channelz': 0,
    };
  }

  /** A call whose deadline passed is no longer the transport's, but may still be at work. */
  private async finish(): Promise<void> {
    await this.app?.close();
    await this.operations.idle();
  }
}

class OperationsModule {}

function secured({ ca, cert, key }: GrpcServerTls): ServerCredentials {
  const own = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) };
  return ServerCredentials.createSsl(ca === undefined ? null : Buffer.from(ca), [own], ca !== undefined);
}

/** The framework's own lines in our log, without those about what it starts. */
function nestLogger(logger: Logger): LoggerService {
  return {
    log: () => undefined,
    warn: (message: unknown) => logger.warn({ source: 'nest' }, String(message)),
    error: (message: unknown) => logger.error({ source: 'nest' }, String(message)),
  };
}
