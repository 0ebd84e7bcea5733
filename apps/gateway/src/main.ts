import { runService } from '@tracking/service';
import { loadConfig } from './config.ts';
import { startGateway } from './gateway.ts';

await runService(loadConfig, startGateway);
