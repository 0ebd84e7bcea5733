import { eventStoreConformance } from '@tracking/testing';
import { eventStoreDbSubject, NODE_NAME } from '../../test/eventstoredb/eventstoredb-subject.ts';

eventStoreConformance(NODE_NAME, eventStoreDbSubject());
