import { noMetrics, silentLogger } from '@tracking/testing';
import { EmbeddedEngine, type EmbeddedEngineOptions } from './embedded-engine.ts';

/**
 * Opens an engine for tests: without log output unless requested, and without reader threads, because tests open many
 * engines.
 */
export function openTestEngine(
  dataDir: string,
  options: Partial<Pick<EmbeddedEngineOptions, 'logger' | 'metrics'>> = {},
): Promise<EmbeddedEngine> {
  const limits = { readerThreads: 0 };
  return EmbeddedEngine.openEmbeddedEngine({ dataDir, logger: silentLogger, metrics: noMetrics, limits, ...options });
}
