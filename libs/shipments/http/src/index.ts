export {
  type EventsService,
  READ_MODELS_INJECTION_TOKEN,
  SHIPMENTS_INJECTION_TOKEN,
  type ShipmentsHttpDependencies,
} from './dependencies.ts';
export type { EventStreamSettings } from './events/event-streams.ts';
export { toEventFilter, ListEventsDto } from './events/event.resource.ts';
export { EventsHttpModule, createShipmentReadProviders, ShipmentsHttpModule } from './shipments-http.module.ts';
export { ShipmentReader } from './shipments/shipment-reader.ts';
export {
  SHIPMENT_ETAG_DESCRIPTION,
  ApiShipmentIdParameter,
  parseShipmentFieldsOfBody,
  SHIPMENT_ID_PIPE,
} from './shipments/shipment.pipes.ts';
