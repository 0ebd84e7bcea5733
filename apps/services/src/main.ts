import { ConfigError, formatError } from '@tracking/runtime';
import { DistributedSystem, SERVICES } from '@tracking/system';
import { loadConfig } from './config.ts';

/** Returns a connection string without its credentials. */
const removeCredentials = (url: string) => /^[^/]+\/\/(?:[^/]*@)?([^/?]+)/.exec(url)?.[1] ?? '';
const print = (line = '') => process.stdout.write(`${line}\n`);

const { promise: stopRequested, resolve: stop } = Promise.withResolvers<void>();
let isStarting = true;
let exitCode = 0;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => (isStarting ? process.exit(1) : stop()));
}
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.once(event, (error: unknown) => {
    process.stderr.write(`${formatError(error)}\n`);
    exitCode = 1;
    if (isStarting) process.exit(exitCode);
    stop();
  });
}

try {
  const config = loadConfig(process.argv.slice(2));
  for (const { variable, likely } of config.misspelt) print(`${variable} is not a setting; did you mean ${likely}?`);
  const reportExit = (name: string, code: number | null) =>
    print(`${name} exited with ${code}: see ${config.folder}/${name}.log`);
  const system = await DistributedSystem.start({ ...config, report: print, onUnexpectedExit: reportExit });
  const { engines, services, administration } = system;
  print();
  print(
    `EventStoreDB  ${removeCredentials(engines.eventStoreDbUrl)}${engines.eventStoreDb ? '  (a stand-in for development)' : ''}`,
  );
  print(`Kafka         ${engines.kafkaBrokers}`);
  print(`MongoDB       ${removeCredentials(engines.mongoUrl)}`);
  for (const service of SERVICES) {
    for (const { process: replica, url, managementUrl } of services[service]) {
      print(`${replica.spec.name.padEnd(13)} ${url ?? ''}${url ? '  ' : ''}metrics and health: ${managementUrl}`);
    }
  }
  print(`logs          ${config.folder}/*.log`);
  print();
  print('Create an API key:');
  print(
    `  ADMINISTRATION_URL=${administration.url} ADMINISTRATION_TOKEN=${administration.token} \\\n` +
      '    npm run --silent cli -- keys create --name first --environment test --role developer',
  );
  print(`API and documentation: ${system.urls.map((url) => `${url}/docs`).join(' ')}`);
  print(`Webhooks may be sent to ${config.env['WEBHOOKS_ALLOWED_CIDRS']}.`);
  print('Press Ctrl-C to stop everything.');
  isStarting = false;
  await stopRequested;
  print('stopping');
  await system.stop();
  print('stopped');
  process.exit(exitCode);
} catch (error) {
  const text = error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${text}\n`);
  process.exit(1);
}
