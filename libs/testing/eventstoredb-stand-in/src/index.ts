/**
 * The EventStoreDB stand-in: not EventStoreDB, and never part of what ships. It speaks EventStoreDB's gRPC protocol, as
 * `@eventstore/db-client` 6.2 uses it, over the embedded event store, so that what is built for EventStoreDB runs and is
 * tested on a machine that has none. It shows what was observed on a real node (23.10), faults included: see its spec.
 */
export {
  EventStoreDbStandIn,
  NodeProcess,
  startedNode,
  standInCommand,
  type StandInOptions,
} from './eventstoredb-stand-in.ts';
