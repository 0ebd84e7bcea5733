import { runServiceMainAndReportErrors } from '@tracking/service';
import { loadConfig } from './config.ts';
import { startShipments } from './shipments.ts';

await runServiceMainAndReportErrors(loadConfig, startShipments);
