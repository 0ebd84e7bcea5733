import { ConfigError, shownError } from '@tracking/runtime';
import { DistributedSystem, SERVICES } from '@tracking/system';
import { loadConfig } from './config.ts';

/** The connection string without its credentials. */
const hostsOf = (url: string) => /^[^/]+\/\/(?:[^/]*@)?([^/?]+)/.exec(url)?.[1] ?? '';
const say = (line = '') => process.stdout.write(`${line}\n`);

const { promise: asked, resolve: stop } = Promise.withResolvers<void>();
let isStarting = true;
let exitCode = 0;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => (isStarting ? process.exit(1) : stop()));
}
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.once(event, (error: unknown) => {
    process.stderr.write(`${shownError(error)}\n`);
    exitCode = 1;
    if (isStarting) process.exit(exitCode);
    stop();
  });
}

try {
  const config = loadConfig(process.argv.slice(2));
  for (const { variable, likely } of config.misspelt) say(`${variable} is no setting, did you mean ${likely}?`);
  const died = (name: string, code: number | null) =>
    say(`${name} ended with ${code}: see ${config.folder}/${name}.log`);
  const system = await DistributedSystem.start({ ...config, say, died });
  const { engines, services, administration } = system;
  say();
  say(
    `EventStoreDB  ${hostsOf(engines.eventStoreDbUrl)}${engines.eventStoreDb ? '  (a stand-in for development)' : ''}`,
  );
  say(`Kafka         ${engines.kafkaBrokers}`);
  say(`MongoDB       ${hostsOf(engines.mongoUrl)}`);
  for (const service of SERVICES) {
    for (const { process: replica, url, managementUrl } of services[service]) {
      say(`${replica.spec.name.padEnd(13)} ${url ?? ''}${url ? '  ' : ''}metrics and health: ${managementUrl}`);
    }
  }
  say(`logs          ${config.folder}/*.log`);
  say();
  say('Make a key:');
  say(
    `  ADMINISTRATION_URL=${administration.url} ADMINISTRATION_TOKEN=${administration.token} \\\n` +
      '    npm run --silent cli -- keys create --name first --environment test --role developer',
  );
  say(`The API and its documentation: ${system.urls.map((url) => `${url}/docs`).join(' ')}`);
  say(`Webhooks may go to ${config.env['WEBHOOKS_ALLOWED_CIDRS']}.`);
  say('Ctrl-C stops everything.');
  isStarting = false;
  await asked;
  say('stopping');
  await system.stop();
  say('stopped');
  process.exit(exitCode);
} catch (error) {
  const said = error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${said}\n`);
  process.exit(1);
}
