import { runService } from '@tracking/service';
import { loadConfig } from './config.ts';
import { setUp } from './set-up.ts';

await runService(loadConfig, setUp);
