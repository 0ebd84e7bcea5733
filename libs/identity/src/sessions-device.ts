/** In this order: most browsers also name those that they descend from. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgi?A?(?:OS)?\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|Chromium|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];
const MAX_LENGTH = 50;

/**
 * What a person recognises a session by, as `Firefox on Windows`, as far as a `User-Agent` tells; of a program the first
 * word. For people alone: nothing is decided by it.
 */
export function deviceOf(userAgent: string | undefined): string {
  if (!userAgent) return 'unknown';
  const [browser, system] = [BROWSERS, SYSTEMS].map((known) => known.find(([form]) => form.test(userAgent))?.[1]);
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? system ?? firstWord(userAgent);
}

/** A header holds any bytes: only what is plain to read is kept. */
function firstWord(userAgent: string): string {
  return /^[\w.+-]+(?:\/[\w.+-]+)?/.exec(userAgent)?.[0].slice(0, MAX_LENGTH) ?? 'unknown';
}
