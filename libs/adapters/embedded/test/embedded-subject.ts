import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { noMetrics, silentLogger, tempFolder, type AdapterSubject, type TempFolder } from '@tracking/testing';
import { EmbeddedEngine } from '../src/index.ts';
import type { EmbeddedLimits } from '../src/embedded-engine.ts';

/** One port of an embedded engine in a folder of its own. */
export function embeddedSubject<P>(
  port: (engine: EmbeddedEngine) => P,
  limits: EmbeddedLimits = {},
): AdapterSubject<P> {
  const opened: EmbeddedEngine[] = [];
  let folder: TempFolder | undefined;
  let dataDir = '';

  async function openAgain(): Promise<P> {
    const engine = await EmbeddedEngine.open({ dataDir, logger: silentLogger, metrics: noMetrics, limits });
    opened.push(engine);
    return port(engine);
  }

  return {
    async open() {
      folder = await tempFolder();
      dataDir = join(folder.path, 'data');
      return openAgain();
    },
    async reopen() {
      await opened.pop()?.close();
      return openAgain();
    },
    /** Goes on with the files as they are while the engine has them open: what a killed process leaves behind. */
    async crash() {
      const left = `${dataDir}-left`;
      // By a process of its own: closing a copy's source in this one would drop the locks that SQLite holds on it.
      execFileSync('cp', ['-r', dataDir, left]);
      dataDir = left;
      return openAgain();
    },
    async close() {
      for (const engine of opened.splice(0)) await engine.close();
      await folder?.remove();
    },
  };
}
