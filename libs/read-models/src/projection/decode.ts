/** @throws where no version of this code knows its type: the stream is parked */
export { toShipmentEvent as decode } from '@tracking/shipments-domain';
