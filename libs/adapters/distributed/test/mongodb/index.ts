export { KillableMongoServer } from './mongo-engine.ts';
export { createMongoConnectionSubject, describeWithMongo, describeWithKillableMongoEngine } from './mongo-subject.ts';
export { MongoStub, respondAsStandalone } from './mongo-stub.ts';
export { declareTestSkippedWithoutQueryPlans, listPlanStages } from './query-plans.ts';
export { type VirtualCluster, VirtualProcess, VirtualTestClock } from './virtual-cluster.ts';
