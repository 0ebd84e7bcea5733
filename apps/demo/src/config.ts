/** What the demo's server may have of this process's environment: how to find programs, and nothing that configures it. */
export function inheritedSettings(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  return { LOG_LEVEL: 'info', PATH: env['PATH'] ?? '' };
}
