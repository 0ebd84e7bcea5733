import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { noMetrics, silentLogger, createTempFolder, type TestedAdapter, type TempFolder } from '@tracking/testing';
import { EmbeddedSqliteEngine } from '../src/index.ts';
import type { EmbeddedEngineLimits } from '../src/embedded-engine.ts';

/** One port of an embedded engine in its own folder. */
export function createEmbeddedAdapterForTest<P>(
  port: (engine: EmbeddedSqliteEngine) => P,
  limits: EmbeddedEngineLimits = {},
): TestedAdapter<P> {
  const opened: EmbeddedSqliteEngine[] = [];
  let folder: TempFolder | undefined;
  let dataDir = '';

  async function openNewAdapterOnSameData(): Promise<P> {
    const engine = await EmbeddedSqliteEngine.openEmbeddedEngine({
      dataDir,
      logger: silentLogger,
      metrics: noMetrics,
      limits,
    });
    opened.push(engine);
    return port(engine);
  }

  return {
    async openTestedAdapter() {
      folder = await createTempFolder();
      dataDir = join(folder.path, 'data');
      return openNewAdapterOnSameData();
    },
    async closeAndReopenAdapter() {
      await opened.pop()?.closeEngine();
      return openNewAdapterOnSameData();
    },
    /**
     * The subject continues with copies of the files while the engine has them open. A killed process leaves files in
     * the same state.
     */
    async simulateCrash() {
      const left = `${dataDir}-left`;
      // A separate process copies the files, because closing the source in this process would release SQLite's locks on
      // it.
      execFileSync('cp', ['-r', dataDir, left]);
      dataDir = left;
      return openNewAdapterOnSameData();
    },
    async close() {
      for (const engine of opened.splice(0)) await engine.closeEngine();
      await folder?.remove();
    },
  };
}
