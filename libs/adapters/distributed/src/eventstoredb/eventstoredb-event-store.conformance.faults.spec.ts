import { testEventStore } from '@tracking/testing';
import {
  createEventStoreDbSubject,
  createSecureClusterOptions,
  IS_STAND_IN_NODE,
  NODE_NAME,
} from '../../test/eventstoredb/eventstoredb-subject.ts';

testEventStore(NODE_NAME, createEventStoreDbSubject());
// The connection string of a real node decides whether it uses TLS and credentials.
if (IS_STAND_IN_NODE) {
  testEventStore(`${NODE_NAME}, without BatchAppend`, createEventStoreDbSubject({ batchAppend: false }));
  testEventStore(
    `${NODE_NAME}, a cluster with TLS and credentials`,
    createEventStoreDbSubject(createSecureClusterOptions()),
  );
}
