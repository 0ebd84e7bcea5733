import { quotaConformance } from '@tracking/testing';
import { MongoQuota } from './mongo-quota.ts';
import { mongoSubject, describeWithMongo } from '../../test/mongodb/mongo-subject.ts';

describeWithMongo('quota on MongoDB', () => {
  quotaConformance('MongoDB', (clock) => ({
    ...mongoSubject((store) => new MongoQuota(store, clock)),
    reservedShare: 0.01,
  }));
});
