export * from './engines.ts';
export { findAdvertisedAddress, followReplicas, ReplicaChannels } from './replica-channels.ts';
export { runService, Service, type ServiceSettings, readServiceSettings } from './service.ts';
