import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { DelayingProxy } from './delaying-proxy.ts';
import { startStopwatch } from './eventually.ts';

describe('a delaying proxy', () => {
  let echo: Server;
  let proxy: DelayingProxy;
  beforeEach(async () => {
    echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
    proxy = await DelayingProxy.startDelayingTcpProxy((echo.address() as AddressInfo).port);
  });
  afterEach(async () => {
    await proxy.closeProxy();
    await once(echo.close(), 'close');
  });

  it('delays bytes in both directions', async () => {
    const client = connect(proxy.port, '127.0.0.1');
    proxy.delayMs = 60;
    const elapsed = startStopwatch();
    client.write('a');
    await once(client, 'data');
    // The proxy cannot answer earlier. There is no upper bound.
    expect(elapsed()).toBeGreaterThan(115);
    client.destroy();
  });

  it('keeps the order of more bytes than it holds, also while the delay changes', async () => {
    const client = connect(proxy.port, '127.0.0.1');
    const sent = Buffer.from(Uint32Array.from({ length: 1_000_000 }, (_, n) => n).buffer);
    const received: Buffer[] = [];
    client.on('data', (bytes: Buffer) => {
      received.push(bytes);
      proxy.delayMs = received.length % 3 === 0 ? 5 : 0;
      if (received.reduce((sum, { length }) => sum + length, 0) === sent.length) client.destroy();
    });
    client.write(sent);
    await once(client, 'close');
    expect(Buffer.concat(received).equals(sent)).toBe(true);
  });

  it('closes the connection of a client when the server closes it', async () => {
    echo.on('connection', (socket) => socket.destroy());
    const client = connect(proxy.port, '127.0.0.1').on('error', () => undefined);
    expect(await buffer(client).catch(() => Buffer.alloc(0))).toHaveLength(0);
  });
});
