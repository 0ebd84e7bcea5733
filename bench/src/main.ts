import { benchApi } from './api.ts';
import { machine } from './machine.ts';
import { benchWebhooks } from './webhooks.ts';

const [suite = 'api', seconds = '60'] = process.argv.slice(2);
const suites: Readonly<Record<string, (seconds: number) => Promise<void>>> = { api: benchApi, webhooks: benchWebhooks };
const run = suites[suite];
if (!run || !/^\d+$/.test(seconds)) {
  process.stderr.write(`usage: npm run bench -- [${Object.keys(suites).join('|')}] [seconds]\n`);
  process.exit(2);
}
process.stdout.write(`${machine()}\n`);
await run(Number(seconds));
