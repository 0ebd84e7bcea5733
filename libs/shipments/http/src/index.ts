export { type EventsService, READ_MODELS, SHIPMENTS, type ShipmentsHttpDependencies } from './dependencies.ts';
export { eventFilter } from './events/event-filter.ts';
export { EventsHttpModule } from './events/events-http.module.ts';
export { ListEventsDto } from './events/list-events.dto.ts';
export type { EventStreamSettings } from './events/stream/event-streams.ts';
export { shipmentReading, ShipmentsHttpModule } from './shipments-http.module.ts';
export { readShipmentFields } from './shipments/shipment-fields.pipes.ts';
export { SHIPMENT_ID } from './shipments/shipment-id.pipe.ts';
export { ShipmentReader } from './shipments/shipment-reader.ts';
