import { runService } from '@tracking/service';
import { loadConfig } from './config.ts';
import { startWebhooks } from './webhooks.ts';

await runService(loadConfig, startWebhooks);
