/**
 * Loads an application's config from the environment.
 * @throws ConfigError
 */
export async function loadAppConfig(app: string, environment: object): Promise<object> {
  // The path is computed, because no project may import an app except this check of all of them.
  const { loadConfig } = (await import(`../../../apps/${app}/src/config.ts`)) as { loadConfig(env: object): object };
  return loadConfig(environment);
}
