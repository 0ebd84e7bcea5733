import { runServiceMainAndReportErrors } from '@tracking/service';
import { loadConfig } from './config.ts';
import { startGateway } from './gateway.ts';

await runServiceMainAndReportErrors(loadConfig, startGateway);
