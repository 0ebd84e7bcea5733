import { documentStoreConformance } from '@tracking/testing';
import { embeddedSubject } from '../test/embedded-subject.ts';

documentStoreConformance(
  'SQLite',
  embeddedSubject(({ documentStore }) => documentStore),
);
