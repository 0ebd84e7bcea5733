import { noMetrics, silentLogger } from '@tracking/testing';
import { EmbeddedSqliteEngine, type EmbeddedEngineOptions } from './embedded-engine.ts';

/**
 * Opens an engine for tests: without log output unless requested, and without reader threads, because tests open many
 * engines.
 */
export function openTestEngine(
  dataDir: string,
  options: Partial<Pick<EmbeddedEngineOptions, 'logger' | 'metrics'>> = {},
): Promise<EmbeddedSqliteEngine> {
  const limits = { readerThreads: 0 };
  return EmbeddedSqliteEngine.openEmbeddedEngine({
    dataDir,
    logger: silentLogger,
    metrics: noMetrics,
    limits,
    ...options,
  });
}
