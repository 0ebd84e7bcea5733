import { Channel, type ChannelCredentials, credentials } from '@grpc/grpc-js';
import { ClientProxyFactory, Transport, type ClientGrpcProxy } from '@nestjs/microservices';
import {
  createKeepaliveOptions,
  createGrpcMessageSizeOptions,
  type GrpcClientTls,
  type GrpcLimits,
} from './grpc-options.ts';
import { createBalancingConfig } from './replica-balancer.ts';
import type { LoadedProto } from './service-protos.ts';

/** Creates the client of a channel to all replicas of a service. @param url such as `dns:///host:port` */
export function createGrpcClient(
  url: string,
  { proto, definition }: LoadedProto,
  {
    channelName,
    tls,
    limits,
  }: { readonly channelName: string; readonly tls: true | GrpcClientTls | undefined; readonly limits: GrpcLimits },
): ClientGrpcProxy {
  const bytes = createGrpcMessageSizeOptions(limits);
  const serverName = tls === true ? undefined : tls?.serverName;
  let channel: Channel | undefined;
  return ClientProxyFactory.create({
    transport: Transport.GRPC,
    options: {
      package: proto.package,
      packageDefinition: definition,
      url,
      credentials:
        tls === undefined ? credentials.createInsecure() : createTlsChannelCredentials(tls === true ? {} : tls),
      maxSendMessageLength: bytes.request,
      maxReceiveMessageLength: bytes.reply,
      keepalive: createKeepaliveOptions(limits),
      channelOptions: {
        'grpc.service_config': createBalancingConfig(channelName),
        'grpc.service_config_disable_resolution': 1,
        'grpc.dns_min_time_between_resolutions_ms': 2_000,
        'grpc.initial_reconnect_backoff_ms': 100,
        'grpc.max_reconnect_backoff_ms': 2_000,
        // gRPC's own retries are disabled, because only the channel retries.
        'grpc.enable_retries': 0,
        // The channel ignores proxy environment variables, which apply to requests to other networks and not to calls
        // between services.
        'grpc.enable_http_proxy': 0,
        'grpc.enable_channelz': 0,
        // The clients of all gRPC services share one channel. With a channel each, a replica that one of them has found
        // would be unknown to the one that opens a stream to it.
        channelFactoryOverride: (...settings: ConstructorParameters<typeof Channel>) =>
          (channel ??= new Channel(...settings)),
        ...(serverName !== undefined && { 'grpc.ssl_target_name_override': serverName }),
      },
    },
  }) as ClientGrpcProxy;
}

function createTlsChannelCredentials({ ca, cert, key }: GrpcClientTls): ChannelCredentials {
  const pem = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
  return credentials.createSsl(pem(ca), pem(key), pem(cert));
}
