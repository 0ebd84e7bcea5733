export {
  DistributedSystem,
  NODE_FLAGS,
  SERVICE_NAMES,
  type ServiceReplica,
  type ServiceName,
  type DistributedSystemOptions,
} from './distributed-system.ts';
export { startDatabaseAndBrokerProcesses, type TestEngineAddressesAndProcesses } from './engines.ts';
