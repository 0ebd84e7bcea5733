import { quotaConformance } from '@tracking/testing';
import { MongoQuota } from './mongo-quota.ts';
import { mongoSubject, whereMongo } from '../../test/mongodb/mongo-subject.ts';

whereMongo('quota on MongoDB', () => {
  quotaConformance('MongoDB', (clock) => ({
    ...mongoSubject((store) => new MongoQuota(store, clock)),
    heldBack: 0.01,
  }));
});
