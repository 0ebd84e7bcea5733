/**
 * Returns the parts of a command's output that are the same in each run: JSON as its value, text as its lines in any
 * order.
 */
export function normal(output) {
  const parsed = parse(output);
  if (parsed !== undefined) return steady(parsed);
  return output.split('\n').map(steadyText).sort();
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function steady(value, name) {
  if (Array.isArray(value)) return value.map((item) => steady(item));
  if (typeof value === 'string') return steadyText(value);
  if (typeof value === 'number' && name === 'duration_ms') return 0;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, steady(of, key)]));
}

const CHANGING = [
  [/\bwhsec_[\w+/=-]+/g, 'whsec_'],
  [/\b(sk_(?:test|live)|shp|mst|exc|doc|evt|whe|dlv|key|sva|wsp|usr|req|rpl)_[\w-]+/g, '$1_'],
  [/\b\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?/g, 'TIME'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b/g, 'UUID'],
  [/\b[0-9a-f]{16,64}\b/g, 'HEX'],
  [/\bt=\d{10},/g, 't=,'],
  [/\b\d+ ms\b/g, 'N ms'],
  [/\btoken=[\w-]+/g, 'token='],
  [/^(Consistency-Token|Idempotency-Key|Date|X-RateLimit-Re\w+): .*$/gim, '$1: '],
];

function steadyText(text) {
  return CHANGING.reduce((steadied, [pattern, replacement]) => steadied.replace(pattern, replacement), text.trimEnd());
}
