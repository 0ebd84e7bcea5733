import { declareObjectStoreTests, declareObjectStoreMemoryTests } from '@tracking/testing';
import { createGridfsStoreForTest, describeWithMongo } from '../../test/mongodb/mongo-subject.ts';

describeWithMongo('object store on GridFS', () => {
  declareObjectStoreTests('GridFS', createGridfsStoreForTest());
  declareObjectStoreMemoryTests('GridFS', createGridfsStoreForTest());
});
