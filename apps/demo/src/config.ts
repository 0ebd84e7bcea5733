/** Environment variables of the demo's server: only the variables that locate programs. */
export function INHERITED_SETTING_NAMES(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  return { LOG_LEVEL: 'info', PATH: env['PATH'] ?? '' };
}
