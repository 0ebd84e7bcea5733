import { noMetrics, silentLogger } from '@tracking/testing';
import { EmbeddedEngine, type EmbeddedOptions } from './embedded-engine.ts';

/** An engine in the folder as tests want it: silent unless told, with one thread that reads. */
export function openTestEngine(
  dataDir: string,
  options: Partial<Pick<EmbeddedOptions, 'logger' | 'metrics'>> = {},
): Promise<EmbeddedEngine> {
  const limits = { readerThreads: 1 };
  return EmbeddedEngine.open({ dataDir, logger: silentLogger, metrics: noMetrics, limits, ...options });
}
