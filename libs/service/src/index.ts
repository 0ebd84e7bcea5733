export * from './engines.ts';
export { runService, Service, type ServiceSettings, readServiceSettings } from './service.ts';
