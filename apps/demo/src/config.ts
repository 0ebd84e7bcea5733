/** Environment variables of the demo's server: only the variables that locate programs. */
export function inheritedSettings(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  return { LOG_LEVEL: 'info', PATH: env['PATH'] ?? '' };
}
