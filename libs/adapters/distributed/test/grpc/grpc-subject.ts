import { fileURLToPath } from 'node:url';
import { noMetrics, silentLogger } from '@tracking/testing';
import { GrpcServiceChannel, type GrpcServiceChannelOptions } from '../../src/grpc/grpc-service-channel.ts';
import { GrpcServiceServer, type GrpcServiceServerOptions } from '../../src/grpc/grpc-service-server.ts';
import type { GrpcServiceProtoFile } from '../../src/grpc/service-protos.ts';

export const TEST_TOKEN = 'service token for tests';
export const THINGS_PROTO: GrpcServiceProtoFile = {
  name: 'things',
  package: 'tracking.v1',
  path: fileURLToPath(new URL('things.proto', import.meta.url)),
};

type Operation = (request?: object) => Promise<unknown>;
const TEST_GRPC_OPERATION_NAMES = [
  'echo',
  'note',
  'nothing',
  'big',
  'read',
  'hold',
  'holdFirst',
  'refuse',
  'fail',
] as const;
export type Things = Readonly<Record<(typeof TEST_GRPC_OPERATION_NAMES)[number], Operation>>;
export interface ThingsOperations {
  readonly things: Things;
  readonly others: { readonly echo: Operation };
}

/** Starts a replica that serves these operations; all other operations return nothing. */
export async function startGrpcServerForTest(
  things: Partial<Things>,
  options: Partial<GrpcServiceServerOptions> & { readonly address: string },
): Promise<GrpcServiceServer> {
  const server = new GrpcServiceServer({
    proto: THINGS_PROTO,
    token: TEST_TOKEN,
    logger: silentLogger,
    metrics: noMetrics,
    ...options,
  });
  const nothing = Object.fromEntries(TEST_GRPC_OPERATION_NAMES.map((name) => [name, () => Promise.resolve(undefined)]));
  server.setServedGrpcOperations<ThingsOperations>({
    things: { ...(nothing as Things), ...things },
    others: { echo: () => Promise.resolve('another') },
  });
  await server.listenOnAddress();
  return server;
}

export function openGrpcChannel(address: string, options: Partial<GrpcServiceChannelOptions> = {}): GrpcServiceChannel {
  const services = { things: address };
  return new GrpcServiceChannel({ token: TEST_TOKEN, logger: silentLogger, metrics: noMetrics, ...options, services });
}
