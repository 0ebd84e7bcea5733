import { objectStoreConformance, objectStoreMemory } from '@tracking/testing';
import { gridfsSubject, whereMongo } from '../../test/mongodb/mongo-subject.ts';

whereMongo('object store on GridFS', () => {
  objectStoreConformance('GridFS', gridfsSubject());
  objectStoreMemory('GridFS', gridfsSubject());
});
