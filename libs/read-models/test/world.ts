import { type EmbeddedSqliteEngine, InProcessLeases } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import { eventually, noMetrics, silentLogger, createTempFolder } from '@tracking/testing';
import type { TempFolder } from '@tracking/testing';
import type { ReadModelLifecycleOptions } from '../src/lifecycle.ts';
import { WorkspaceScopeOfStreamCache } from '../src/batch-projector.ts';
import { ReadModels } from '../src/read-models.ts';
import type { ReadModelsOptions } from '../src/read-models.ts';
import { ShipmentEventWriter } from './shipment-events.ts';

/** Embedded engines in a temporary folder, with read models that use them. */
export class ReadModelsTestBed {
  private readonly started: ReadModels[] = [];
  private incarnation = 1_000;

  private constructor(
    private readonly folder: TempFolder,
    readonly engine: EmbeddedSqliteEngine,
    readonly writer: ShipmentEventWriter,
  ) {}

  static async open(): Promise<ReadModelsTestBed> {
    const folder = await createTempFolder();
    const engine = await openTestEngine(folder.path);
    return new ReadModelsTestBed(folder, engine, new ShipmentEventWriter(engine.eventStore));
  }

  async startReadModels(options: Partial<ReadModelsOptions> = {}): Promise<ReadModels> {
    const readModels = await ReadModels.startReadModelsOfProcess({ ...this.createReadModelsOptions(), ...options });
    this.started.push(readModels);
    return readModels;
  }

  /** Returns leases as if a new process had started on the same data, even if the previous process did not stop. */
  createLeasesOfNextProcess(): InProcessLeases {
    this.incarnation += 1;
    return new InProcessLeases(this.incarnation);
  }

  createReadModelsOptions(): ReadModelsOptions & Pick<ReadModelLifecycleOptions, 'scopes'> {
    const { eventStore, documentStore, leases } = this.engine;
    const scopes = new WorkspaceScopeOfStreamCache(eventStore);
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
    await this.engine.closeEngine();
    await this.folder.remove();
  }
}

/** Resolves when all read models contain all events written so far. */
export async function waitUntilCaughtUp(models: ReadModels): Promise<void> {
  await waitUntilTrue(async () => (await models.listReadModelStates()).every((each) => each.caught_up));
}

/** Rebuilds the read model, then waits until queries use the new generation. */
export async function rebuildReadModelAndWait(models: ReadModels, name: string): Promise<void> {
  const { generation } = await models.rebuild(name);
  await waitUntilTrue(async () =>
    (await models.listReadModelStates()).some((each) => each.name === name && each.generation === generation),
  );
}

/** Fails if a read model differs from its rebuild. Nothing may be written during the comparison. */
export async function expectEqualToRebuild(models: ReadModels): Promise<void> {
  await waitUntilCaughtUp(models);
  for (const { name } of await models.listReadModelStates()) {
    const { rows, sha256 } = await models.digestRows(name);
    await rebuildReadModelAndWait(models, name);
    expect(await models.digestRows(name)).toMatchObject({ rows, sha256 });
  }
}

/** Calls the function until it returns true. @throws Error after five seconds */
export async function waitUntilTrue(question: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(async () => {
    if (!(await question())) throw new Error(`still not: ${String(question)}`);
  });
}
