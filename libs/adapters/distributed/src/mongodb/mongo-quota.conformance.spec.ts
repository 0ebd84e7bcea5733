import { declareQuotaTests } from '@tracking/testing';
import { MongoQuota } from './mongo-quota.ts';
import { createMongoSubject, describeWithMongo } from '../../test/mongodb/mongo-subject.ts';

describeWithMongo('quota on MongoDB', () => {
  declareQuotaTests('MongoDB', (clock) => ({
    ...createMongoSubject((store) => new MongoQuota(store, clock)),
    reservedShare: 0.01,
  }));
});
