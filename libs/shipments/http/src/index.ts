export { type EventsService, READ_MODELS, SHIPMENTS, type ShipmentsHttpDependencies } from './dependencies.ts';
export type { EventStreamSettings } from './events/event-streams.ts';
export { eventFilter, ListEventsDto } from './events/event.resource.ts';
export { EventsHttpModule, shipmentReading, ShipmentsHttpModule } from './shipments-http.module.ts';
export { ShipmentReader } from './shipments/shipment-reader.ts';
export { ETAG_OF_SHIPMENT, OnShipment, readShipmentFields, SHIPMENT_ID } from './shipments/shipment.pipes.ts';
