/**
 * What an application makes of its environment.
 * @throws ConfigError
 */
export async function loadAppConfig(app: string, environment: object): Promise<object> {
  // A computed path: no project imports an app, but for this look at all of them.
  const { loadConfig } = (await import(`../../../apps/${app}/src/config.ts`)) as { loadConfig(env: object): object };
  return loadConfig(environment);
}
