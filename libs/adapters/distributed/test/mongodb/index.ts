export { createConnectionSubject, describeWithMongo } from './mongo-subject.ts';
export { MongoStub, respondAsStandalone } from './mongo-stub.ts';
export { itWithQueryPlans, listPlanStages } from './query-plans.ts';
