import { eventStoreConformance } from '@tracking/testing';
import { eventStoreDbSubject, NODE } from '../../test/eventstoredb/eventstoredb-subject.ts';

eventStoreConformance(NODE, eventStoreDbSubject());
