import 'reflect-metadata';
import { ServerCredentials, type Server } from '@grpc/grpc-js';
import type { INestMicroservice, LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Transport, type MicroserviceOptions } from '@nestjs/microservices';
import type { CommandHandler, CommandServer, Logger, Metrics } from '@tracking/ports';
import { CommandsController, SERVED_COMMANDS, TOKEN } from './commands-controller.ts';
import { DEFAULT_LIMITS, keepaliveOf, messageBytes, type GrpcLimits, type GrpcServerTls } from './grpc-options.ts';
import { PROTOCOL } from './protocol.ts';
import { ServedCommands } from './served-commands.ts';

export interface GrpcCommandServerOptions {
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

/** A Nest microservice that answers for the services of this process. */
export class GrpcCommandServer implements CommandServer {
  private readonly limits: GrpcLimits;
  private readonly commands: ServedCommands;
  private app: INestMicroservice | undefined;
  /** Inside the microservice, which waits for its last call without end. */
  private transport: Server | undefined;

  constructor(private readonly options: GrpcCommandServerOptions) {
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.commands = new ServedCommands(this.limits, options.logger);
    const help = 'Calls of other services that this process has not answered yet';
    options.metrics.gauge('command_server_calls', help, [], () => this.commands.depth);
  }

  serve(service: string, methods: Readonly<Record<string, CommandHandler>>): void {
    this.commands.add(service, methods);
  }

  /** @throws Error where the address cannot be had */
  async listen(): Promise<void> {
    const { address, token, tls, logger } = this.options;
    const bytes = messageBytes(this.limits);
    const module = {
      module: CommandsModule,
      controllers: [CommandsController],
      providers: [
        { provide: SERVED_COMMANDS, useValue: this.commands },
        { provide: TOKEN, useValue: token },
      ],
    };
    this.app = await NestFactory.createMicroservice<MicroserviceOptions>(module, {
      logger: nestLogger(logger),
      abortOnError: false,
      transport: Transport.GRPC,
      options: {
        ...PROTOCOL,
        url: address,
        credentials: tls === undefined ? ServerCredentials.createInsecure() : secured(tls),
        maxReceiveMessageLength: bytes.request,
        maxSendMessageLength: bytes.reply,
        keepalive: keepaliveOf(this.limits),
        channelOptions: { 'grpc.max_connection_age_ms': this.limits.connectionAgeMs, 'grpc.enable_channelz': 0 },
        gracefulShutdown: true,
        onLoadPackageDefinition: (_definition, transport: Server) => (this.transport = transport),
      },
    });
    await this.app.listen();
  }

  /** Sends callers to other replicas, and lets the calls under way finish, for a time. */
  async close(): Promise<void> {
    const { promise: late, resolve: giveUp } = Promise.withResolvers<void>();
    const patience = setTimeout(() => {
      this.options.logger.warn({ calls: this.commands.depth }, 'command server: closed with calls under way');
      this.transport?.forceShutdown();
      giveUp();
    }, this.limits.closeTimeoutMs);
    await Promise.race([this.finish(), late]);
    clearTimeout(patience);
  }

  /** A call whose deadline passed is no longer the transport's, but may still be at work. */
  private async finish(): Promise<void> {
    await this.app?.close();
    await this.commands.idle();
  }
}

class CommandsModule {}

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
