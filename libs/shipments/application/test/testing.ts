export { createMilestone, createMilestones, createUpsert, SAMPLE_SCOPE } from './builders.ts';
export { createShipmentsReplica, TestEngine } from './engine.ts';
