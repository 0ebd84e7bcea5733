import { noMetrics, silentLogger } from '@tracking/testing';
import { EmbeddedEngine, type EmbeddedOptions } from './embedded-engine.ts';

/** An engine in the folder as tests want it: silent unless told, and without threads that read, as tests open many. */
export function openTestEngine(
  dataDir: string,
  options: Partial<Pick<EmbeddedOptions, 'logger' | 'metrics'>> = {},
): Promise<EmbeddedEngine> {
  const limits = { readerThreads: 0 };
  return EmbeddedEngine.open({ dataDir, logger: silentLogger, metrics: noMetrics, limits, ...options });
}
