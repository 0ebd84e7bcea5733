const MOST_CAUSES = 3;
/** What lets one in, wherever it stands in a text. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\/\/[^/\s@]+@/g, '//[redacted]@'],
  [/\b(sk_live|sk_test|whsec)_[\w+/=-]+/g, '$1_[redacted]'],
  [/\b(Bearer|Basic)\s+[\w.+/=~-]+/gi, '$1 [redacted]'],
];

/** An error as a log line may show it: its stack and those of its causes, nothing else that it carries, and no secret. */
export function shownError(error: unknown): string {
  const shown: string[] = [];
  for (
    let at = error;
    at !== undefined && shown.length <= MOST_CAUSES;
    at = at instanceof Error ? at.cause : undefined
  ) {
    shown.push(at instanceof Error ? (at.stack ?? String(at)) : String(at));
  }
  return SECRETS.reduce((text, [secret, instead]) => text.replaceAll(secret, instead), shown.join('\ncaused by '));
}
