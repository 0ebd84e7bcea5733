export {
  type EventsService,
  READ_MODELS_TOKEN,
  SHIPMENTS_TOKEN,
  type ShipmentsHttpDependencies,
} from './dependencies.ts';
export type { EventStreamSettings } from './events/event-streams.ts';
export { toEventFilter, ListEventsDto } from './events/event.resource.ts';
export { EventsHttpModule, createShipmentReadProviders, ShipmentsHttpModule } from './shipments-http.module.ts';
export { ShipmentReader } from './shipments/shipment-reader.ts';
export {
  SHIPMENT_ETAG_DESCRIPTION,
  ShipmentOperation,
  readShipmentFields,
  SHIPMENT_ID_PARAMETER,
} from './shipments/shipment.pipes.ts';
