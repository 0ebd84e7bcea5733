import { ConfigError } from '@tracking/runtime';
import { runServiceMainAndReportErrors } from '@tracking/service';
import { loadConfig, loadServiceUpdateTurnConfig } from './config.ts';

// Each service waits before it starts, so the wait loads only what it needs.
const [command, service] = process.argv.slice(2);
if (command === undefined)
  await runServiceMainAndReportErrors(loadConfig, async (config) =>
    (await import('./set-up.ts')).createTopicsAndIndexes(config),
  );
else
  await runServiceMainAndReportErrors(
    () => {
      if (command !== 'wait') throw new ConfigError(`unknown command ${command}: expected none, or wait`);
      return loadServiceUpdateTurnConfig(service);
    },
    async (config) => (await import('./update-order.ts')).waitUntilUpdateOrderAllowsServiceStart(config),
  );
