import { declareEventStoreTests } from '@tracking/testing';
import {
  createEventStoreDbSubject,
  createTlsClusterStandInOptions,
  IS_STAND_IN_NODE,
  TESTED_ENGINE_NAME,
} from '../../test/eventstoredb/eventstoredb-subject.ts';

declareEventStoreTests(TESTED_ENGINE_NAME, createEventStoreDbSubject());
// The connection string of a real node decides whether it uses TLS and credentials.
if (IS_STAND_IN_NODE) {
  declareEventStoreTests(
    `${TESTED_ENGINE_NAME}, without BatchAppend`,
    createEventStoreDbSubject({ batchAppend: false }),
  );
  declareEventStoreTests(
    `${TESTED_ENGINE_NAME}, a cluster with TLS and credentials`,
    createEventStoreDbSubject(createTlsClusterStandInOptions()),
  );
}
