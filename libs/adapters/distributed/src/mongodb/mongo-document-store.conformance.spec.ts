import { documentStoreConformance } from '@tracking/testing';
import { mongoSubject, whereMongo } from '../../test/mongodb/mongo-subject.ts';

whereMongo('document store on MongoDB', () => {
  documentStoreConformance(
    'MongoDB',
    mongoSubject((store) => store),
  );
});
