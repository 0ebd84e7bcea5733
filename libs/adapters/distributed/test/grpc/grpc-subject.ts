import type { CommandChannel } from '@tracking/ports';
import { type CommandChannelSubject, type Services, freePort, noMetrics, silentLogger } from '@tracking/testing';
import { GrpcCommandChannel, type GrpcCommandChannelOptions } from '../../src/grpc/grpc-command-channel.ts';
import { GrpcCommandServer, type GrpcCommandServerOptions } from '../../src/grpc/grpc-command-server.ts';

export const TOKEN = 'a token of the tests';

/** A replica that answers for these services. */
export async function startServer(
  services: Services,
  options: Partial<GrpcCommandServerOptions> & { readonly address: string },
): Promise<GrpcCommandServer> {
  const server = new GrpcCommandServer({ token: TOKEN, logger: silentLogger, metrics: noMetrics, ...options });
  for (const [service, methods] of Object.entries(services)) server.serve(service, methods);
  await server.listen();
  return server;
}

export function openChannel(
  services: Readonly<Record<string, string>>,
  options: Partial<GrpcCommandChannelOptions> = {},
): GrpcCommandChannel {
  return new GrpcCommandChannel({ token: TOKEN, logger: silentLogger, metrics: noMetrics, ...options, services });
}

/** Both ends in this process, over loopback. */
export class GrpcSubject implements CommandChannelSubject {
  private server: GrpcCommandServer | undefined;
  private channel: GrpcCommandChannel | undefined;

  async open(services: Services): Promise<CommandChannel> {
    const address = `127.0.0.1:${await freePort()}`;
    this.server = await startServer(services, { address });
    const names = Object.keys(services);
    this.channel = openChannel(Object.fromEntries(names.map((service) => [service, `dns:///${address}`])));
    return this.channel;
  }

  async close(): Promise<void> {
    await this.channel?.close();
    await this.server?.close();
  }
}
