/**
 * A stand-in for EventStoreDB in tests, which is never part of a release. It implements EventStoreDB's gRPC protocol,
 * as `@eventstore/db-client` 6.2 uses it, on the embedded event store, so that the adapter for EventStoreDB can be
 * tested on a machine without EventStoreDB. It reproduces the behaviour of a real node (23.10), including its faults:
 * see its spec.
 */
export {
  EventStoreDbStandIn,
  EventStoreDbNodeProcess,
  createEventStoreNodeProcessSpec,
  createStandInStartCommand,
  type StandInOptions,
} from './eventstoredb-stand-in.ts';
export type { InjectedFaults } from './faults.ts';
