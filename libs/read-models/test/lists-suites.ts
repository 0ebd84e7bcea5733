export { milestoneListsSuite } from './milestone-lists-suite.ts';
export { shipmentListsSuite } from './shipment-lists-suite.ts';
