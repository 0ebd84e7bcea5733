import { testDocumentStore } from '@tracking/testing';
import { createMongoSubject, describeWithMongo } from '../../test/mongodb/mongo-subject.ts';

describeWithMongo('document store on MongoDB', () => {
  testDocumentStore(
    'MongoDB',
    createMongoSubject((store) => store),
  );
});
