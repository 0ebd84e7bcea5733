import { objectStoreConformance, objectStoreMemory } from '@tracking/testing';
import { gridfsSubject, describeWithMongo } from '../../test/mongodb/mongo-subject.ts';

describeWithMongo('object store on GridFS', () => {
  objectStoreConformance('GridFS', gridfsSubject());
  objectStoreMemory('GridFS', gridfsSubject());
});
