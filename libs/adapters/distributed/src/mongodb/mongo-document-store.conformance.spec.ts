import { documentStoreConformance } from '@tracking/testing';
import { mongoSubject, describeWithMongo } from '../../test/mongodb/mongo-subject.ts';

describeWithMongo('document store on MongoDB', () => {
  documentStoreConformance(
    'MongoDB',
    mongoSubject((store) => store),
  );
});
