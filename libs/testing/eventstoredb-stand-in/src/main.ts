import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { env } from 'node:process';
import { parseArgs } from 'node:util';
import { StandInCluster } from './cluster.ts';
import type { InjectedFaults } from './faults.ts';
import { createConnectionString } from './node-address.ts';

if (env['NODE_ENV'] === 'production')
  throw new Error('the EventStoreDB stand-in must not run in production: use EventStoreDB');

const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    port: { type: 'string', multiple: true, default: ['2113'] },
    'control-port': { type: 'string', default: '0' },
    'no-batch-append': { type: 'boolean', default: false },
    'stats-every': { type: 'string', default: '0' },
    'live-buffer': { type: 'string', default: '1000' },
    'tls-cert': { type: 'string' },
    'tls-key': { type: 'string' },
    user: { type: 'string', multiple: true, default: [] },
    linger: { type: 'string', default: '5000' },
  },
});
if (values.folder === undefined) throw new Error('--folder is missing: name the folder of the data');

const nodePorts = values.port.map(Number);
const { 'tls-cert': certFile, 'tls-key': keyFile } = values;
const tlsOptions = certFile && keyFile ? { cert: readFileSync(certFile), key: readFileSync(keyFile) } : undefined;
const startedEventStoreDbStandInCluster = await StandInCluster.startStandInCluster({
  folder: values.folder,
  ports: nodePorts,
  batchAppend: !values['no-batch-append'],
  statsEvery: Number(values['stats-every']),
  liveBuffer: Number(values['live-buffer']),
  tls: tlsOptions,
  users: new Map(values.user.map((user) => [user.slice(0, user.indexOf(':')), user.slice(user.indexOf(':') + 1)])),
});

/**
 * The control server: POST sets `InjectedFaults` as JSON, GET returns the number of open subscriptions. The query
 * parameter `node` is the index of the node, 0 by default.
 */
const faultControlServer = createServer((request, response) => {
  const index = Number(new URL(request.url ?? '', 'http://control').searchParams.get('node') ?? 0);
  if (request.method === 'GET')
    return void response.end(String(startedEventStoreDbStandInCluster.countSubscriptions(index)));
  json(request)
    .then((faults) => startedEventStoreDbStandInCluster.setFaults(index, faults as InjectedFaults))
    .then(
      () => void response.writeHead(204).end(),
      (error: unknown) => void response.writeHead(400).end(String(error)),
    );
});
faultControlServer.listen(Number(values['control-port']), '127.0.0.1');
await once(faultControlServer, 'listening');
const { port: controlPort } = faultControlServer.address() as AddressInfo;
const standInConnectionUrl = createConnectionString(nodePorts, tlsOptions !== undefined);
console.log(`ready on ${standInConnectionUrl} control http://127.0.0.1:${controlPort}`);

await once(process, 'SIGTERM');
// Like a real node, the stand-in serves requests for a while, then closes the remaining connections.
await setTimeout(Number(values.linger));
faultControlServer.close();
faultControlServer.closeAllConnections();
await startedEventStoreDbStandInCluster.stopCluster();
