import { testEventStore } from '@tracking/testing';
import { createEventStoreDbSubject, NODE_NAME } from '../../test/eventstoredb/eventstoredb-subject.ts';

testEventStore(NODE_NAME, createEventStoreDbSubject());
