import { declareLeaseTests, noMetrics } from '@tracking/testing';
import { MongoLeases } from './mongo-leases.ts';
import { createMongoSubject, describeWithMongo } from '../../test/mongodb/mongo-subject.ts';

describeWithMongo('leases on MongoDB', () => {
  declareLeaseTests(
    'MongoDB',
    createMongoSubject((store) => new MongoLeases(store, noMetrics, { ttlMs: 1_800 })),
  );
});
