import { commandChannelConformance, silentLogger } from '@tracking/testing';
import { DirectCommandChannel } from './direct-command-channel.ts';

const channel = new DirectCommandChannel(silentLogger);
commandChannelConformance('a direct call', {
  open(services) {
    for (const [service, methods] of Object.entries(services)) channel.serve(service, methods);
    return Promise.resolve(channel);
  },
  close: () => channel.close(),
});
