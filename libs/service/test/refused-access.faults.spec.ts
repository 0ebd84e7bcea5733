import { jest } from '@jest/globals';
import { MongoStub, respondAsStandalone } from '@tracking/distributed/testing';
import { spawnServiceAndAwaitExit } from '@tracking/testing';

jest.setTimeout(60_000);

let standalone: MongoStub;
beforeAll(async () => {
  standalone = await MongoStub.startMongoStub(respondAsStandalone);
});
afterAll(() => standalone.closeMongoStub());

it.each(['gateway', 'shipments', 'projections', 'webhooks', 'setup'])(
  '%s names a standalone MongoDB at the start, whatever else is unavailable, and exits with 1',
  async (app) => {
    expect(await spawnServiceAndAwaitExit(app, { MONGODB_URL: standalone.formatMongoConnectionString() })).toEqual({
      code: 1,
      errors: 'MONGODB_URL: the server is standalone; a replica set is required, of at least one member\n',
    });
  },
);
