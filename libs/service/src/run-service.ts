import { ConfigError } from '@tracking/runtime';

/** Runs a service's `main`: what an operator did wrong is told in one line; anything else is a fault of ours and shows where. */
export async function runService<Config>(
  loadConfig: () => Config,
  start: (config: Config) => Promise<void>,
): Promise<void> {
  try {
    await start(loadConfig());
  } catch (error) {
    // Stopped while it waited for an engine.
    if (error instanceof Error && error.name === 'AbortError') return;
    const said = error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${said}\n`);
    process.exit(1);
  }
}
