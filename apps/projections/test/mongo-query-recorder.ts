import type { MongoConnection } from '@tracking/distributed';
import { listPlanStages } from '@tracking/distributed/testing';

type Database = Parameters<Parameters<MongoConnection['runOnDatabase']>[0]>[0];
type Documents = ReturnType<Database['collection']>;
type FindOptions = NonNullable<Parameters<Documents['find']>[1]>;

interface RecordedQuery {
  readonly collection: string;
  readonly filter: object;
  readonly options: FindOptions;
}

/** Records one query of each kind that a MongoDB connection runs, and explains their plans. */
export class MongoQueryRecorder {
  private readonly kinds = new Map<string, RecordedQuery>();
  private readonly run: MongoConnection['runOnDatabase'];

  constructor(connection: MongoConnection) {
    this.run = connection.runOnDatabase.bind(connection);
    connection.runOnDatabase = (operation, deadlineMs) =>
      this.run((database) => operation(this.wrapDatabaseToRecordQueries(database)), deadlineMs);
  }

  get count(): number {
    return this.kinds.size;
  }

  /**
   * Returns queries that do not use exactly the index that they specify. A query that specifies no index must use the
   * id index.
   */
  async findMisplannedQueries(): Promise<readonly string[]> {
    const astray: string[] = [];
    for (const [kind, { collection, filter, options }] of this.kinds) {
      const stages = listPlanStages(
        await this.run((database) => database.collection(collection).find(filter, options).explain()),
      );
      const indexes = new Set(stages.flatMap(({ indexName }) => indexName ?? []));
      const isRight = indexes.size === 1 && indexes.has(String(options.hint ?? '_id_'));
      if (!isRight || stages.some(({ stage }) => stage === 'COLLSCAN'))
        astray.push(`${kind}: ${JSON.stringify(stages)}`);
    }
    return astray;
  }

  private wrapDatabaseToRecordQueries(database: Database): Database {
    return createProxyWithOverrides(database, {
      collection: (name: string, options?: object) => {
        const documents = database.collection(name, options);
        const note = (filter: object, { hint, sort, skip, limit }: FindOptions) => {
          const asked = { hint, sort, skip, limit };
          const given = Object.entries(asked).filter(([, value]) => value !== undefined);
          const question = { collection: name, filter, options: Object.fromEntries(given) };
          this.kinds.set(JSON.stringify([name, describeFilter(filter), hint, sort]), question);
        };
        return createProxyWithOverrides(documents, {
          find: (filter: object, finding: FindOptions) => {
            note(filter, finding);
            return documents.find(filter, finding);
          },
          countDocuments: (filter: object, counting: FindOptions) => {
            note(filter, counting);
            return documents.countDocuments(filter, counting);
          },
        });
      },
    });
  }
}

/** Returns a proxy of an object with some of its methods replaced. */
function createProxyWithOverrides<T extends object>(of: T, methods: Readonly<Record<string, unknown>>): T {
  return new Proxy(of, {
    get: (target, name) => {
      if (typeof name === 'string' && name in methods) return methods[name];
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

/** Describes a filter without its values. The first element of a list represents all elements. */
function describeFilter(filter: unknown): unknown {
  if (Array.isArray(filter)) return filter.slice(0, 1).map(describeFilter);
  if (filter === null || typeof filter !== 'object') return typeof filter;
  return Object.fromEntries(Object.entries(filter).map(([name, condition]) => [name, describeFilter(condition)]));
}
