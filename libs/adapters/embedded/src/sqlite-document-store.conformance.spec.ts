import { testDocumentStore } from '@tracking/testing';
import { embeddedSubject } from '../test/embedded-subject.ts';

testDocumentStore(
  'SQLite',
  embeddedSubject(({ documentStore }) => documentStore),
);
