import { ConfigError, formatError } from '@tracking/runtime';
import { DistributedSystem, SERVICE_NAMES } from '@tracking/system';
import { loadConfig } from './config.ts';

/** Returns a connection string without its credentials. */
const removeCredentialsFromUrl = (url: string) => /^[^/]+\/\/(?:[^/]*@)?([^/?]+)/.exec(url)?.[1] ?? '';
const printLine = (line = '') => process.stdout.write(`${line}\n`);

const { promise: stopRequested, resolve: stop } = Promise.withResolvers<void>();
let areServicesStarting = true;
let exitCode = 0;
for (const stopSignalName of ['SIGINT', 'SIGTERM'] as const) {
  process.on(stopSignalName, () => (areServicesStarting ? process.exit(1) : stop()));
}
for (const uncaughtErrorEventName of ['uncaughtException', 'unhandledRejection'] as const) {
  process.once(uncaughtErrorEventName, (error: unknown) => {
    process.stderr.write(`${formatError(error)}\n`);
    exitCode = 1;
    if (areServicesStarting) process.exit(exitCode);
    stop();
  });
}

try {
  const config = loadConfig(process.argv.slice(2));
  for (const { variable, likely } of config.misspelt)
    printLine(`${variable} is not a setting; did you mean ${likely}?`);
  const reportExit = (name: string, code: number | null) =>
    printLine(`${name} exited with ${code}: see ${config.folder}/${name}.log`);
  const system = await DistributedSystem.startSystem({ ...config, report: printLine, onUnexpectedExit: reportExit });
  const { engines, services, administration } = system;
  printLine();
  printLine(
    `EventStoreDB  ${removeCredentialsFromUrl(engines.eventStoreDbUrl)}${engines.eventStoreDb ? '  (a stand-in for development)' : ''}`,
  );
  printLine(`Kafka         ${engines.kafkaBrokers}`);
  printLine(`MongoDB       ${removeCredentialsFromUrl(engines.mongoUrl)}`);
  for (const service of SERVICE_NAMES) {
    for (const { process: replica, url, managementUrl } of services[service]) {
      printLine(`${replica.spec.name.padEnd(13)} ${url ?? ''}${url ? '  ' : ''}metrics and health: ${managementUrl}`);
    }
  }
  printLine(`logs          ${config.folder}/*.log`);
  printLine();
  printLine('Create an API key:');
  printLine(
    `  ADMINISTRATION_URL=${administration.url} ADMINISTRATION_TOKEN=${administration.token} \\\n` +
      '    npm run --silent cli -- keys create --name first --environment test --role developer',
  );
  printLine(`API and documentation: ${system.urls.map((url) => `${url}/docs`).join(' ')}`);
  printLine(`Webhooks may be sent to ${config.env['WEBHOOKS_ALLOWED_CIDRS']}.`);
  printLine('Press Ctrl-C to stop everything.');
  areServicesStarting = false;
  await stopRequested;
  printLine('stopping');
  await system.stopSystem();
  printLine('stopped');
  process.exit(exitCode);
} catch (startError) {
  const text =
    startError instanceof ConfigError
      ? startError.message
      : startError instanceof Error
        ? startError.stack
        : String(startError);
  process.stderr.write(`${text}\n`);
  process.exit(1);
}
