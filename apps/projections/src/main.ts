import { runService } from '@tracking/service';
import { loadConfig } from './config.ts';
import { startProjections } from './projections.ts';

await runService(loadConfig, startProjections);
