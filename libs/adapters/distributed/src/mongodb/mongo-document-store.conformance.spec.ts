import { declareDocumentStoreTests } from '@tracking/testing';
import { createMongoSubject, describeWithMongo } from '../../test/mongodb/mongo-subject.ts';

describeWithMongo('document store on MongoDB', () => {
  declareDocumentStoreTests(
    'MongoDB',
    createMongoSubject((store) => store),
  );
});
