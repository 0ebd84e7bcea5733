import { leasesConformance, noMetrics } from '@tracking/testing';
import { MongoLeases } from './mongo-leases.ts';
import { mongoSubject, describeWithMongo } from '../../test/mongodb/mongo-subject.ts';

describeWithMongo('leases on MongoDB', () => {
  leasesConformance(
    'MongoDB',
    mongoSubject((store) => new MongoLeases(store, noMetrics, { ttlMs: 1_800 })),
  );
});
