import { type EmbeddedEngine, InProcessLeases } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import { eventually, noMetrics, silentLogger, tempFolder } from '@tracking/testing';
import type { TempFolder } from '@tracking/testing';
import type { LifecycleOptions } from '../src/lifecycle.ts';
import { StreamScopes } from '../src/batch-projector.ts';
import { ReadModels } from '../src/read-models.ts';
import type { ReadModelsOptions } from '../src/read-models.ts';
import { Writer } from './shipment-events.ts';

/** Real engines in a folder of their own, and read models on them. */
export class World {
  private readonly started: ReadModels[] = [];
  private incarnation = 1_000;

  private constructor(
    private readonly folder: TempFolder,
    readonly engine: EmbeddedEngine,
    readonly writer: Writer,
  ) {}

  static async open(): Promise<World> {
    const folder = await tempFolder();
    const engine = await openTestEngine(folder.path);
    return new World(folder, engine, new Writer(engine.eventStore));
  }

  async start(options: Partial<ReadModelsOptions> = {}): Promise<ReadModels> {
    const readModels = await ReadModels.start({ ...this.parts(), ...options });
    this.started.push(readModels);
    return readModels;
  }

  /** Leases as a process that starts anew on the same data has them, whatever became of the one before. */
  nextLeases(): InProcessLeases {
    this.incarnation += 1;
    return new InProcessLeases(this.incarnation);
  }

  parts(): ReadModelsOptions & Pick<LifecycleOptions, 'scopes'> {
    const { eventStore, documentStore, leases } = this.engine;
    const scopes = new StreamScopes(eventStore);
    return {
      eventStore,
      documentStore,
      leases,
      scopes,
      logger: silentLogger,
      metrics: noMetrics,
      clock: () => new Date(),
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.started.map((readModels) => readModels.stop()));
    await this.engine.close();
    await this.folder.remove();
  }
}

/** Everything written so far is in all read models. */
export async function caughtUp(models: ReadModels): Promise<void> {
  await until(async () => (await models.list()).every((each) => each.caught_up));
}

/** Makes the read model anew, and waits until that is what is queried. */
export async function rebuilt(models: ReadModels, name: string): Promise<void> {
  const { generation } = await models.rebuild(name);
  await until(async () => (await models.list()).some((each) => each.name === name && each.generation === generation));
}

/** Fails where a read model does not hold what a rebuild of it holds. Only while nothing is written. */
export async function expectEqualToRebuild(models: ReadModels): Promise<void> {
  await caughtUp(models);
  for (const { name } of await models.list()) {
    const { rows, sha256 } = await models.digest(name);
    await rebuilt(models, name);
    expect(await models.digest(name)).toMatchObject({ rows, sha256 });
  }
}

/** Asks until the answer is yes. @throws when it is still no after five seconds */
export async function until(question: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(async () => {
    if (!(await question())) throw new Error(`still not: ${String(question)}`);
  });
}
