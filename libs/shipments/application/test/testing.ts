export { createMilestone, createMilestones, createUpsert, SAMPLE_SCOPE } from './builders.ts';
export { createReplica, TestEngine } from './engine.ts';
