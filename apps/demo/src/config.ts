/** Environment of the demo's server: how to find programs, and no other settings of this process. */
export function inheritedSettings(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  return { LOG_LEVEL: 'info', PATH: env['PATH'] ?? '' };
}
