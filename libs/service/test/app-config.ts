/**
 * Loads an application's config from the environment.
 * @throws ConfigError
 */
export async function loadAppConfig(app: string, environment: object): Promise<object> {
  // The import path is computed, because projects may not import apps. Only this test checks all apps.
  const { loadConfig } = (await import(`../../../apps/${app}/src/config.ts`)) as { loadConfig(env: object): object };
  return loadConfig(environment);
}
