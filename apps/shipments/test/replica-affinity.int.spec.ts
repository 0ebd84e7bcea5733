import { GrpcServiceChannel, GrpcServiceServer, SHIPMENTS_PROTO } from '@tracking/distributed';
import { createEventOperations, findShipmentIdOfOperationRequest, type ShipmentOperations } from '@tracking/shipments';
import {
  createMilestoneCommand,
  createMilestones,
  createShipmentsReplica,
  createUpsertCommand,
  SAMPLE_SCOPE,
  TestEngine,
} from '@tracking/shipments/testing';
import { eventually, findFreePort, noMetrics, RecordedMetrics, silentLogger } from '@tracking/testing';

const TOKEN = 'service token for tests';
const ADDRESSES = { baseUrl: 'https://api.example', appUrl: 'https://app.example' };
const DEADLINE_MS = 60_000;
/** So many that both replicas get one of them, whatever their addresses. */
const SHIPMENT_IDS = Array.from('abcdefghijklmnopqrstuvwxyz', (letter) => `shp_${letter.repeat(25)}a`);

describe('commands of two callers to two replicas over gRPC', () => {
  let engine: TestEngine;
  let replicas: { readonly address: string; readonly server: GrpcServiceServer; readonly metrics: RecordedMetrics }[];
  let channels: GrpcServiceChannel[];
  beforeEach(async () => {
    engine = await TestEngine.openTestEngine();
    replicas = await Promise.all(
      [1, 2].map(async () => {
        const metrics = new RecordedMetrics();
        const address = `127.0.0.1:${await findFreePort()}`;
        const options = { proto: SHIPMENTS_PROTO, address, token: TOKEN, logger: silentLogger, metrics };
        const server = new GrpcServiceServer(options);
        server.setServedGrpcOperations<ShipmentOperations>({
          shipments: createShipmentsReplica(engine.store, {}, metrics),
          events: createEventOperations(engine.store, ADDRESSES),
        });
        await server.listenOnAddress();
        return { address, server, metrics };
      }),
    );
    const shipments = `ipv4:${replicas.map(({ address }) => address).join(',')}`;
    channels = [1, 2].map(
      () => new GrpcServiceChannel({ services: { shipments }, token: TOKEN, logger: silentLogger, metrics: noMetrics }),
    );
  });
  afterEach(async () => {
    for (const channel of channels) await channel.closeChannel();
    for (const { server } of replicas) await server.drainAndCloseGrpcServer();
    await engine.closeTestEngine();
  });

  const sum = (name: string) => replicas.reduce((total, { metrics }) => total + metrics.getMetricValue(name), 0);

  it('find the shipment in memory, and never conflict with another replica', async () => {
    const callers = channels.map(
      (channel) =>
        channel.createGrpcClientOperations<ShipmentOperations>(
          SHIPMENTS_PROTO,
          DEADLINE_MS,
          findShipmentIdOfOperationRequest,
        ).shipments,
    );
    const [first] = callers;
    // Until all connections are open, a caller uses the replicas to which it is already connected.
    await eventually(async () => {
      for (const caller of callers)
        for (const shipment_id of SHIPMENT_IDS) await caller.getShipment({ ...SAMPLE_SCOPE, shipment_id });
      for (const { metrics } of replicas)
        expect(metrics.getMetricValue('shipment_cache_reads_total{result="miss"}')).toBeGreaterThan(0);
    });

    const created = await Promise.all(
      Array.from({ length: 20 }, (_, n) => first!.upsertShipment(createUpsertCommand({ external_id: `PO-${n}` }))),
    );
    const ids = created.map(({ answer }) => answer.shipment.id);
    const before = ['hit', 'miss'].map((result) => sum(`shipment_cache_reads_total{result="${result}"}`));
    for (const [index, id] of ids.entries()) {
      const caller = callers[index % 2]!;
      await caller.upsertShipment(createUpsertCommand({ external_id: `PO-${index}`, house_bill: `HB-${index}` }));
      const commands = createMilestones(id, 34);
      await Promise.all(commands.map((command, n) => callers[n % 2]!.recordMilestone(command)));
      await caller.recordMilestone(createMilestoneCommand(id));
    }
    const [hits, misses] = ['hit', 'miss'].map(
      (result, index) => sum(`shipment_cache_reads_total{result="${result}"}`) - before[index]!,
    );
    expect(misses).toBe(0);
    expect(hits).toBeGreaterThan(0);
    expect(sum('command_conflicts_total')).toBe(0);
    for (const { metrics } of replicas)
      expect(metrics.getMetricValue('shipment_cache_reads_total{result="hit"}')).toBeGreaterThan(0);
  });
});
