import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { env } from 'node:process';
import { parseArgs } from 'node:util';
import type { InjectedFaults } from './faults.ts';
import { StandInNode } from './node.ts';

if (env['NODE_ENV'] === 'production')
  throw new Error('the EventStoreDB stand-in must not run in production: use EventStoreDB');

const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    port: { type: 'string', default: '2113' },
    'control-port': { type: 'string', default: '0' },
    'no-batch-append': { type: 'boolean', default: false },
    'stats-every': { type: 'string', default: '0' },
    'live-buffer': { type: 'string', default: '1000' },
    linger: { type: 'string', default: '5000' },
  },
});
if (values.folder === undefined) throw new Error('--folder is missing: name the folder of the data');

const port = Number(values.port);
const standInNode = await StandInNode.start({
  folder: values.folder,
  port,
  batchAppend: !values['no-batch-append'],
  statsEvery: Number(values['stats-every']),
  liveBuffer: Number(values['live-buffer']),
});

/** The control server: POST sets `InjectedFaults` as JSON, GET returns the number of open subscriptions. */
const controlServer = createServer((request, response) => {
  if (request.method === 'GET') return void response.end(String(standInNode.faults.subscriptionCount));
  json(request).then(
    (faults) => {
      standInNode.faults.setFaults(faults as InjectedFaults);
      response.writeHead(204).end();
    },
    () => response.writeHead(400).end(),
  );
});
controlServer.listen(Number(values['control-port']), '127.0.0.1');
await once(controlServer, 'listening');
const { port: controlPort } = controlServer.address() as AddressInfo;
console.log(`ready on esdb://127.0.0.1:${port}?tls=false control http://127.0.0.1:${controlPort}`);

await once(process, 'SIGTERM');
// Like a real node, the stand-in serves requests for a while, then closes the remaining connections.
await setTimeout(Number(values.linger));
controlServer.close();
controlServer.closeAllConnections();
await standInNode.stop();
