import { runServiceMainAndReportErrors } from '@tracking/service';
import { loadConfig } from './config.ts';
import { startWebhooks } from './webhooks.ts';

await runServiceMainAndReportErrors(loadConfig, startWebhooks);
