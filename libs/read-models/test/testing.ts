export { defineMilestoneListTests } from './milestone-lists-suite.ts';
export { defineShipmentListTests } from './shipment-lists-suite.ts';
export { ReadModelsTestBed, waitUntilCaughtUp } from './world.ts';
