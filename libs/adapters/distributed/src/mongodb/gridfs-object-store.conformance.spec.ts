import { testObjectStore, testObjectStoreMemory } from '@tracking/testing';
import { createGridfsSubject, describeWithMongo } from '../../test/mongodb/mongo-subject.ts';

describeWithMongo('object store on GridFS', () => {
  testObjectStore('GridFS', createGridfsSubject());
  testObjectStoreMemory('GridFS', createGridfsSubject());
});
