/** One value that became another. `path` names it from the outside in, as `legs 2 eta`. */
export interface Difference {
  readonly path: readonly string[];
  readonly from: unknown;
  readonly to: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/** What makes items of a list the same one, whatever their place. */
const NAMES = ['number', 'container_number', 'id'] as const;

/** Every single value that differs. Items of lists are told apart by what they are called, else by their place. */
export function differences(from: unknown, to: unknown, path: readonly string[] = []): readonly Difference[] {
  const [before, after] = [fieldsOf(from), fieldsOf(to)];
  if (before === undefined && after === undefined) return isSame(from, to) ? [] : [{ path, from, to }];
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names.flatMap((name) => differences(before?.[name] ?? null, after?.[name] ?? null, [...path, name]));
}

/** The parts of a value, by name; undefined for one that stands for itself. */
function fieldsOf(value: unknown): Fields | undefined {
  if (Array.isArray(value)) return value.some(isObject) ? Object.fromEntries(value.map(named)) : undefined;
  return isObject(value) ? value : undefined;
}

function named(item: unknown, index: number): readonly [string, unknown] {
  const name = isObject(item)
    ? NAMES.map((field) => item[field]).find((value) => typeof value === 'string')
    : undefined;
  return [typeof name === 'string' ? name : String(index + 1), item];
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Nothing, whichever way it is said, is nothing. */
function isSame(from: unknown, to: unknown): boolean {
  const [before, after] = [from, to].map((value) =>
    Array.isArray(value) && value.length === 0 ? null : (value ?? null),
  );
  return JSON.stringify(before) === JSON.stringify(after);
}
