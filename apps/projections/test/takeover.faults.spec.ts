import { GrpcServiceChannel, GrpcServiceServer, PROJECTIONS_PROTO } from '@tracking/distributed';
import type { ProjectionOperations, ReadModels } from '@tracking/read-models';
import { ReadModelsTestBed, waitUntilCaughtUp } from '@tracking/read-models/testing';
import { DelayingProxy, eventually, findFreePort, noMetrics, silentLogger } from '@tracking/testing';

const DEADLINE_MS = 1_000;
const LONG_MS = 30_000;
const common = { token: 'service token for tests', logger: silentLogger, metrics: noMetrics };

describe('a process that follows two processes with projections over gRPC', () => {
  let world: ReadModelsTestBed;
  const closing: (() => Promise<unknown>)[] = [];
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    await world.close();
  });

  /** Serves the progress of a process. The proxy in front of it is closed to simulate that the process is killed. */
  async function serveProgress(projecting: ReadModels): Promise<DelayingProxy> {
    const port = await findFreePort();
    const server = new GrpcServiceServer({ ...common, proto: PROJECTIONS_PROTO, address: `127.0.0.1:${port}` });
    server.setServedGrpcOperations<ProjectionOperations>(projecting.operations);
    await server.listenOnAddress();
    closing.push(() => server.drainAndCloseGrpcServer());
    const proxy = await DelayingProxy.startDelayingTcpProxy(port);
    closing.push(() => proxy.closeProxy().catch(() => undefined));
    return proxy;
  }

  /** Resolves when the process has received the first report. */
  async function follow(querying: ReadModels, { port }: DelayingProxy): Promise<void> {
    const channel = new GrpcServiceChannel({ ...common, services: { projections: `dns:///127.0.0.1:${port}` } });
    const { progress } = channel.createGrpcClientOperations<ProjectionOperations>(PROJECTIONS_PROTO, DEADLINE_MS);
    const ending = new AbortController();
    const first = Promise.withResolvers<void>();
    const observed: ProjectionOperations['progress'] = {
      follow: (request, onMessage, signal) => {
        const receive: typeof onMessage = async (message) => {
          await onMessage(message);
          first.resolve();
        };
        return progress.follow(request, receive, signal);
      },
    };
    void querying.followProjections({ progress: observed }, ending.signal);
    closing.push(async () => {
      ending.abort();
      await channel.closeChannel();
    });
    await first.promise;
  }

  it('knows the age of its rows from the end of one process until the other projects them', async () => {
    const writeShipment = async (n: number) => {
      await world.writer.createShipment(n);
      return (await world.engine.eventStore.head())!;
    };
    const one = await world.startReadModels();
    await writeShipment(1);
    await waitUntilCaughtUp(one);
    const querying = await world.startReadModels({
      project: false,
      findTimeAfter: () => Promise.resolve('2026-01-01T00:00:00Z'),
      clock: () => new Date('2026-01-01T00:00:05Z'),
    });
    await querying.ready;
    const link = await serveProgress(one);
    await follow(querying, link);
    // The second process waits for the leases of the first one.
    const two = await world.startReadModels();
    await follow(querying, await serveProgress(two));
    expect(await querying.waitForAllReadModels(await writeShipment(2), LONG_MS)).toBe(true);
    const age = () => querying.progress.findTakeoverAge('shipments');
    expect(await age()).toBeUndefined();

    await link.closeProxy();
    await eventually(async () => expect(await age()).toBe(5_000));
    await one.stop();
    await eventually(async () => expect(await age()).toBeUndefined());
    expect(await querying.waitForAllReadModels(await writeShipment(3), LONG_MS)).toBe(true);
  });
});
