import { runServiceMainAndReportErrors } from '@tracking/service';
import { loadConfig } from './config.ts';
import { startProjections } from './projections.ts';

await runServiceMainAndReportErrors(loadConfig, startProjections);
