/** Names asked before, with the answer: making a formatter is a thousand times dearer than a look-up. */
const known = new Map<string, boolean>();
const MAX_KNOWN = 1_000;

/** Whether it is a time zone's IANA name, as `Europe/Amsterdam`. */
export function isTimeZone(name: string): boolean {
  // Also keeps out bare offsets, which the platform would take.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  const before = known.get(name);
  if (before !== undefined) return before;
  const exists = platformKnows(name);
  if (known.size < MAX_KNOWN) known.set(name, exists);
  return exists;
}

function platformKnows(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
