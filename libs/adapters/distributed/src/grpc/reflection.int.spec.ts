import { status } from '@grpc/grpc-js';
import { DomainError } from '@tracking/contracts';
import { findFreePort, noMetrics, silentLogger } from '@tracking/testing';
import { GrpcReflectionClient } from '../../test/grpc/generic-client.ts';
import { TEST_TOKEN } from '../../test/grpc/grpc-subject.ts';
import { GrpcServiceServer } from './grpc-service-server.ts';
import { loadProto, SHIPMENTS_PROTO } from './service-protos.ts';

describe('a tool that uses only server reflection', () => {
  let server: GrpcServiceServer;
  let client: GrpcReflectionClient;
  let stranger: GrpcReflectionClient;

  beforeAll(async () => {
    const address = `127.0.0.1:${await findFreePort()}`;
    server = new GrpcServiceServer({
      proto: SHIPMENTS_PROTO,
      address,
      token: TEST_TOKEN,
      logger: silentLogger,
      metrics: noMetrics,
    });
    const answer = (operation: string) => (request: object) =>
      operation === 'reopenShipment'
        ? Promise.reject(new DomainError('not_found', 'The shipment does not exist.'))
        : Promise.resolve({ operation, request });
    const parts = loadProto(SHIPMENTS_PROTO).parts.map(({ name, rpcs }) => [
      name,
      Object.fromEntries(rpcs.map(({ operation }) => [operation, answer(operation)])),
    ]);
    server.setServedGrpcOperations(Object.fromEntries(parts) as Record<string, Record<string, () => Promise<unknown>>>);
    await server.listenOnAddress();
    client = new GrpcReflectionClient(address, TEST_TOKEN);
    stranger = new GrpcReflectionClient(address);
  });
  afterAll(async () => {
    client.closeClient();
    stranger.closeClient();
    await server.drainAndCloseGrpcServer();
  });

  it('finds the services', async () => {
    expect(await client.listGrpcServices()).toEqual(
      expect.arrayContaining(['tracking.v1.Shipments', 'tracking.v1.Events']),
    );
  });

  it.each(['Shipments', 'Events'])(
    'receives all of %s in one file, because imports would not be resolved',
    async (service) => {
      expect(await client.fetchProtoFileDescriptors(`tracking.v1.${service}`)).toHaveLength(1);
    },
  );

  it('calls an operation and reads its response', async () => {
    const fields = { id: 'c1', at: '2026-01-01T00:00:00.000Z', workspace_id: 'ws_1', environment: 'test' };
    const actor = { type: 'user', id: 'usr_1' };
    const request = { ...fields, actor, json: '{"fields":{"external_id":"PO-1"}}' };
    const answer = (await client.callGrpcOperationByReflection('tracking.v1.Shipments', 'UpsertShipment', request)) as {
      readonly json: string;
    };
    expect(JSON.parse(answer.json)).toEqual({
      operation: 'upsertShipment',
      request: { ...fields, actor, fields: { external_id: 'PO-1' } },
    });
    expect(await client.callGrpcOperationByReflection('tracking.v1.Events', 'Head', {})).toEqual({
      json: JSON.stringify({ operation: 'head', request: {} }),
    });
  });

  it('reads a refusal', async () => {
    expect(await client.callGrpcOperationByReflection('tracking.v1.Shipments', 'ReopenShipment', { id: 'c2' })).toEqual(
      {
        refused: { code: 'not_found', message: 'The shipment does not exist.' },
      },
    );
  });

  it('receives nothing without the token', async () => {
    await expect(stranger.listGrpcServices()).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
  });
});
