import { randomUUID } from 'node:crypto';
import { testIfSupported, noMetrics } from '@tracking/testing';
import type { Document } from 'mongodb';
import { MongoConnection } from '../../src/mongodb/mongo-connection.ts';
import { KillableMongoServer, NOT_KILLABLE_REASON } from './mongo-engine.ts';
import { describeWithMongo, getTestDatabaseUrl } from './mongo-subject.ts';

export interface PlanStage {
  readonly stage: string;
  readonly indexName?: string;
}

/** Keys under which MongoDB nests stages: also those of its newer execution engine, and of shards. */
const NESTED_PLAN_KEYS = ['winningPlan', 'queryPlan', 'inputStage', 'inputStages', 'shards'];

/** Returns all stages of the winning plan. @param explained result of `explain` */
export function listPlanStages(explained: Document): readonly PlanStage[] {
  return listPlanStagesRecursively((explained['queryPlanner'] as Document | undefined)?.['winningPlan']);
}

function listPlanStagesRecursively(plan: unknown): readonly PlanStage[] {
  if (Array.isArray(plan)) return plan.flatMap(listPlanStagesRecursively);
  if (typeof plan !== 'object' || plan === null) return [];
  const nested = NESTED_PLAN_KEYS.flatMap((key) => listPlanStagesRecursively((plan as Document)[key]));
  return 'stage' in plan ? [plan as PlanStage, ...nested] : nested;
}

/** Reason why tests cannot read query plans; undefined if they can. */
const NO_QUERY_PLANS_REASON = await checkServerExplainsQueryPlans();

async function checkServerExplainsQueryPlans(): Promise<string | undefined> {
  if (process.env['MONGODB_URL'] === undefined) return undefined;
  const engine = NOT_KILLABLE_REASON === undefined ? await KillableMongoServer.createMongoServerForTest('') : undefined;
  await engine?.startEngine();
  try {
    return await explainWhyQueryPlansUnavailable(getTestDatabaseUrl(`test-${randomUUID()}`));
  } finally {
    await engine?.killEngineAndDeleteFolder();
  }
}

/**
 * Returns the reason why tests cannot read query plans of a server; undefined if they can. Servers of other vendors
 * describe plans in other ways. Drops the database.
 */
export async function explainWhyQueryPlansUnavailable(url: string): Promise<string | undefined> {
  const connection = new MongoConnection({ url, metrics: noMetrics });
  try {
    return await connection.runOnDatabase(async (database) => {
      const things = database.collection('things');
      const index = await things.createIndex({ owner: 1 });
      const stages = listPlanStages(await things.find({ owner: 'o' }, { hint: index }).explain());
      await database.dropDatabase();
      return stages.some(({ indexName }) => indexName === index)
        ? undefined
        : 'the test needs a server whose `explain` names the indexes in `queryPlanner.winningPlan`, as MongoDB does';
    });
  } finally {
    await connection.closeConnection();
  }
}

/** Defines tests that read query plans. If the server does not describe plans, a skipped test states the reason. */
export function declareQueryPlanTestsIfSupported(title: string, define: () => void): void {
  if (NO_QUERY_PLANS_REASON === undefined) describeWithMongo(title, define);
  else declareTestSkippedWithoutQueryPlans(title, () => Promise.resolve());
}

/** Defines a test that reads query plans. It is skipped, with the reason, if the server does not describe them. */
export function declareTestSkippedWithoutQueryPlans(title: string, test: () => Promise<void>): void {
  testIfSupported(NO_QUERY_PLANS_REASON === undefined, String(NO_QUERY_PLANS_REASON))(title, test);
}
