export * from './engines.ts';
export { getAdvertisedAddress, connectToEachReplica, ReplicaChannels } from './replica-channels.ts';
export {
  runServiceMainAndReportErrors,
  ServiceProcess,
  type CommonServiceSettings,
  readServiceSettings,
} from './service.ts';
