import { type MongoConnection, MongoDocumentStore } from '@tracking/distributed';
import {
  createMongoConnectionSubject,
  describeWithMongo,
  declareTestSkippedWithoutQueryPlans,
} from '@tracking/distributed/testing';
import { defineMilestoneListTests } from '@tracking/read-models/testing';
import { MongoQueryRecorder } from './mongo-query-recorder.ts';

describeWithMongo('lists of milestones in MongoDB', () => {
  describe('lists of milestones in MongoDB', () => {
    const subject = createMongoConnectionSubject();
    let connection: MongoConnection;
    let asked: MongoQueryRecorder;
    beforeAll(async () => {
      connection = await subject.openTestedAdapter();
      asked = new MongoQueryRecorder(connection);
    });
    afterAll(() => subject.close());

    defineMilestoneListTests(() => new MongoDocumentStore(connection));

    // Runs after the suite above, on the queries that it ran.
    declareTestSkippedWithoutQueryPlans('use the index that they name', async () => {
      expect(asked.count).toBeGreaterThan(10);
      expect(await asked.findMisplannedQueries()).toEqual([]);
    });
  });
});
