export { MongoEngine } from './mongo-engine.ts';
export { createMongoConnectionSubject, describeWithMongo, describeWithMongoEngine } from './mongo-subject.ts';
export { MongoStub, respondAsStandalone } from './mongo-stub.ts';
export { declareTestWithQueryPlans, listPlanStages } from './query-plans.ts';
export { type VirtualCluster, VirtualProcess, VirtualTestClock } from './virtual-cluster.ts';
