import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedEngine, InProcessLeases } from '@tracking/embedded';
import type { Logger, Metrics } from '@tracking/ports';
import { ReadModels } from '../src/read-models.ts';
import type { ReadModelsOptions } from '../src/read-models.ts';
import { Writer } from './shipment-events.ts';

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };
const ignored = { add() {}, set() {}, observe() {} };
export const unmeasured: Metrics = { counter: () => ignored, gauge: () => ignored, histogram: () => ignored };

/** Real engines in a folder of their own, and read models on them. */
export class World {
  private readonly started: ReadModels[] = [];
  private incarnation = 1_000;

  private constructor(
    readonly folder: string,
    readonly engine: EmbeddedEngine,
    readonly writer: Writer,
  ) {}

  static async open(): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'read-models-'));
    const engine = await EmbeddedEngine.open({ dataDir: folder, logger: silent, metrics: unmeasured });
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

  parts(): ReadModelsOptions {
    const { eventStore, documentStore, leases } = this.engine;
    return { eventStore, documentStore, leases, logger: silent, metrics: unmeasured, clock: () => new Date() };
  }

  async close(): Promise<void> {
    await Promise.all(this.started.map((readModels) => readModels.stop()));
    await this.engine.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Everything written so far is in both read models. */
export async function caughtUp(models: ReadModels): Promise<void> {
  await eventually(async () => (await models.list()).every((each) => each.caught_up));
}

/** Makes the read model anew, and waits until that is what is queried. */
export async function rebuilt(models: ReadModels, name: string): Promise<void> {
  const { generation } = await models.rebuild(name);
  await eventually(async () =>
    (await models.list()).some((each) => each.name === name && each.generation === generation),
  );
}

/** Fails where a read model does not hold what a rebuild of it holds. Only while nothing is written. */
export async function expectEqualToRebuild(models: ReadModels): Promise<void> {
  await caughtUp(models);
  for (const name of ['shipments', 'milestones']) {
    const { rows, sha256 } = await models.digest(name);
    await rebuilt(models, name);
    expect(await models.digest(name)).toMatchObject({ rows, sha256 });
  }
}

/** Asks until the answer is true. */
export async function eventually(what: () => Promise<boolean> | boolean, deadlineMs = 5_000): Promise<void> {
  for (const end = performance.now() + deadlineMs; !(await what());) {
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${String(what)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
