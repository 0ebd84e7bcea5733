export { DistributedSystem, NODE_FLAGS, SERVICES, type Replica, type ServiceName } from './distributed-system.ts';
export { startEngines, type Engines } from './engines.ts';
