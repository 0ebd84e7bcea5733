export * from './engines.ts';
export { getAdvertisedAddress, connectToEachReplica, ReplicaChannels } from './replica-channels.ts';
export { runService, ServiceProcess, type ServiceSettings, readServiceSettings } from './service.ts';
