import { eventually, noMetrics } from '@tracking/testing';
import { createCursorReply, MongoStub } from '../../test/mongodb/mongo-stub.ts';
import { MongoConnection } from './mongo-connection.ts';

describe('a connection with `failsFast`', () => {
  const slow = Promise.withResolvers<void>();
  let stub: MongoStub;
  let connection: MongoConnection;
  beforeEach(async () => {
    stub = await MongoStub.startMongoStub(({ find }) =>
      find === undefined ? undefined : slow.promise.then(() => createCursorReply({ _id: 'found' })),
    );
    const url = stub.formatMongoConnectionString({ options: 'maxPoolSize=2' });
    connection = new MongoConnection({ url, metrics: noMetrics, failsFast: true, deadlineMs: 30_000 });
  });
  afterEach(async () => {
    await connection.closeConnection();
    await stub.closeMongoStub();
  });

  it('waits for slow operations that use all connections while the server answers pings', async () => {
    const find = () => connection.runOnDatabase((database) => database.collection('things').findOne({}));
    const found = Promise.all([find(), find(), find()]);
    await Promise.race([found, eventually(() => expect(stub.listCommandsNamed('ping').length).toBeGreaterThan(4))]);
    slow.resolve();
    expect(await found).toEqual(Array.from({ length: 3 }, () => ({ _id: 'found' })));
  });
});
