import { runService } from '@tracking/service';
import { loadConfig } from './config.ts';
import { startShipments } from './shipments.ts';

await runService(loadConfig, startShipments);
