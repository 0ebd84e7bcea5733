import type { DistributedSystemOptions } from '@tracking/system';
import { scaleTimeout } from '@tracking/testing';
import { EndpointServer, type EndpointWithReceivedDeliveries } from '../receiver.ts';
import { startServices, type StartedDistributedTestSystem } from '../subject.ts';
import { createTestTenant, type TestTenant } from '../tenant.ts';

/** The services of a suite, with a workspace and an enabled endpoint. */
export interface ServicesWithReceiver {
  readonly services: StartedDistributedTestSystem;
  readonly tenant: TestTenant;
  readonly hook: EndpointWithReceivedDeliveries;
}

/**
 * Starts services before the tests of a suite and stops them afterwards. The fields of the result are set once a test
 * runs.
 * @param prepare called before the start; returns options of the system
 */
export function setUpServicesWithReceiver(
  prepare: () => Promise<Partial<DistributedSystemOptions>> = () => Promise.resolve({}),
): ServicesWithReceiver {
  const started: { -readonly [Name in keyof ServicesWithReceiver]?: ServicesWithReceiver[Name] } = {};
  let receiver: EndpointServer | undefined;

  beforeAll(async () => {
    started.services = await startServices({ RATE_LIMIT_PER_MINUTE: '1000000' }, await prepare());
    started.tenant = await createTestTenant(started.services);
    receiver = await EndpointServer.startEndpointServer(0);
    started.hook = await receiver.createEnabledEndpoint(started.tenant.api, '/hook', {});
  }, scaleTimeout(240_000));
  afterAll(async () => {
    await receiver?.closeEndpointServer();
    await started.services?.stop();
  }, scaleTimeout(120_000));
  return started as ServicesWithReceiver;
}
