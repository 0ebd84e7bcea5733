import { scaleTimeout } from '@tracking/testing';
import { HookServer, type Hook } from '../receiver.ts';
import { startServices, type Services } from '../subject.ts';
import { newTenant, type Tenant } from '../tenant.ts';

/** The services of a suite, with a workspace and an enabled endpoint. */
export interface ServicesWithHook {
  readonly services: Services;
  readonly tenant: Tenant;
  readonly hook: Hook;
}

/** Starts services before the tests of a suite and stops them afterwards. The fields are set once a test runs. */
export function servicesWithHook(): ServicesWithHook {
  const started: { -readonly [Name in keyof ServicesWithHook]?: ServicesWithHook[Name] } = {};
  let receiver: HookServer | undefined;

  beforeAll(async () => {
    started.services = await startServices({ RATE_LIMIT_PER_MINUTE: '1000000' });
    started.tenant = await newTenant(started.services);
    receiver = await HookServer.start(0);
    started.hook = await receiver.enabled(started.tenant.api, '/hook', {});
  }, scaleTimeout(240_000));
  afterAll(async () => {
    await receiver?.close();
    await started.services?.stop();
  }, scaleTimeout(120_000));
  return started as ServicesWithHook;
}
