/** Returns the environment variables of the demo's server: the log level and `PATH`. */
export function createDemoServerEnvironment(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  return { LOG_LEVEL: 'info', PATH: env['PATH'] ?? '' };
}
