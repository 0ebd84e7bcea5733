export {
  DistributedSystem,
  NODE_FLAGS,
  SERVICES,
  type DistributedSystemOptions,
  type Replica,
  type ServiceName,
} from './distributed-system.ts';
export { startEngines, type Engines, type EnginesOptions } from './engines.ts';
