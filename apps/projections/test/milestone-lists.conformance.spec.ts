import { type MongoConnection, MongoDocumentStore } from '@tracking/distributed';
import { connectionSubject, whereMongo } from '@tracking/distributed/testing';
import { milestoneListsSuite } from '@tracking/read-models/testing';
import { AskedOfMongo } from './asked-of-mongo.ts';

whereMongo('lists of milestones in MongoDB', () => {
  describe('lists of milestones in MongoDB', () => {
    const subject = connectionSubject();
    let connection: MongoConnection;
    let asked: AskedOfMongo;
    beforeAll(async () => {
      connection = await subject.open();
      asked = new AskedOfMongo(connection);
    });
    afterAll(() => subject.close());

    milestoneListsSuite(() => new MongoDocumentStore(connection));

    // Runs after the suite above, on the queries that it ran.
    it('go by the index that they name', async () => {
      expect(asked.count).toBeGreaterThan(10);
      expect(await asked.astray()).toEqual([]);
    });
  });
});
