export { createMilestoneCommand, createMilestones, createUpsertCommand, SAMPLE_SCOPE } from './builders.ts';
export { createShipmentsReplica, TestEngine } from './engine.ts';
