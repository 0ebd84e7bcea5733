import fc from 'fast-check';
import { textArbitrary, valueArbitrary } from './arbitrary-values.ts';

/** A change that makes a valid value invalid. */
interface ValueMutation {
  /** Index of the mutated value, modulo the number of values. */
  readonly place: number;
  readonly kind: 'replace' | 'remove' | 'add' | 'repeat';
  readonly name: string;
  readonly value: unknown;
}

const valueMutationArbitrary: fc.Arbitrary<ValueMutation> = fc.record({
  place: fc.nat(100),
  kind: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'add', 'repeat'),
  name: textArbitrary,
  value: valueArbitrary,
});

/** Generates valid values, and equally often values with one or two mutations. */
export function mutateSomeValues(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const faults = fc.oneof(fc.constant([]), fc.array(valueMutationArbitrary, { minLength: 1, maxLength: 2 }));
  return fc.tuple(values, faults).map(([value, wrong]) => wrong.reduce(applyValueMutation, value));
}

type Step = string | number;

function applyValueMutation(value: unknown, { place, kind, name, value: other }: ValueMutation): unknown {
  const places = listPathsOfValueParts(value);
  const at = places[place % places.length] ?? [];
  if (kind === 'replace') return changeValueAtPath(value, at, () => other);
  if (kind === 'remove') return changeValueAtPath(value, at, () => undefined);
  return changeValueAtPath(value, at, (present) => {
    if (Array.isArray(present)) return kind === 'repeat' ? [...present, ...present, ...present] : [...present, other];
    if (typeof present === 'string' && kind === 'repeat') return present.repeat(2_000 / (present.length + 1) + 2);
    if (typeof present === 'object' && present !== null) return copyObjectWithOwnProperty(present, name, other);
    return other;
  });
}

/** Returns the paths of all parts of a value, starting with the value itself. */
function listPathsOfValueParts(value: unknown, depth = 0): readonly (readonly Step[])[] {
  if (typeof value !== 'object' || value === null || depth > 8) return [[]];
  const inner = Object.entries(value).flatMap(([name, item]) =>
    listPathsOfValueParts(item, depth + 1).map((path) => [name, ...path]),
  );
  return [[], ...inner];
}

function changeValueAtPath(
  value: unknown,
  [step, ...rest]: readonly Step[],
  change: (present: unknown) => unknown,
): unknown {
  if (step === undefined) return change(value);
  if (Array.isArray(value))
    return value.map((item: unknown, at) => (String(at) === step ? changeValueAtPath(item, rest, change) : item));
  const present = value as Record<string, unknown>;
  return copyObjectWithOwnProperty(present, String(step), changeValueAtPath(present[step], rest, change));
}

/** Returns the object with the property set, even if its name is `__proto__`. */
function copyObjectWithOwnProperty(value: object, name: string, item: unknown): object {
  return Object.fromEntries([...Object.entries(value), [name, item]]);
}
