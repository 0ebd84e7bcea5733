import { testDocumentStore } from '@tracking/testing';
import { createEmbeddedSubject } from '../test/embedded-subject.ts';

testDocumentStore(
  'SQLite',
  createEmbeddedSubject(({ documentStore }) => documentStore),
);
