import fc from 'fast-check';
import { anyText, anyValue } from './any-text.ts';

/** One thing that is wrong with a value. */
interface Fault {
  /** Which place of it; counted round where it has fewer. */
  readonly place: number;
  readonly kind: 'replace' | 'remove' | 'add' | 'repeat';
  readonly name: string;
  readonly value: unknown;
}

const fault: fc.Arbitrary<Fault> = fc.record({
  place: fc.nat(100),
  kind: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'add', 'repeat'),
  name: anyText,
  value: anyValue,
});

/** Values that fit, and as often ones with a fault or two somewhere in them. */
export function alsoBeside(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const faults = fc.oneof(fc.constant([]), fc.array(fault, { minLength: 1, maxLength: 2 }));
  return fc.tuple(values, faults).map(([value, wrong]) => wrong.reduce(withFault, value));
}

type Step = string | number;

function withFault(value: unknown, { place, kind, name, value: other }: Fault): unknown {
  const places = placesIn(value);
  const at = places[place % places.length] ?? [];
  if (kind === 'replace') return changed(value, at, () => other);
  if (kind === 'remove') return changed(value, at, () => undefined);
  return changed(value, at, (present) => {
    if (Array.isArray(present)) return kind === 'repeat' ? [...present, ...present, ...present] : [...present, other];
    if (typeof present === 'string' && kind === 'repeat') return present.repeat(2_000 / (present.length + 1) + 2);
    if (typeof present === 'object' && present !== null) return withOwn(present, name, other);
    return other;
  });
}

/** The paths of all that a value holds, itself first. */
function placesIn(value: unknown, depth = 0): readonly (readonly Step[])[] {
  if (typeof value !== 'object' || value === null || depth > 8) return [[]];
  const inner = Object.entries(value).flatMap(([name, item]) =>
    placesIn(item, depth + 1).map((path) => [name, ...path]),
  );
  return [[], ...inner];
}

function changed(value: unknown, [step, ...rest]: readonly Step[], change: (present: unknown) => unknown): unknown {
  if (step === undefined) return change(value);
  if (Array.isArray(value))
    return value.map((item: unknown, at) => (String(at) === step ? changed(item, rest, change) : item));
  const present = value as Record<string, unknown>;
  return withOwn(present, String(step), changed(present[step], rest, change));
}

/** With the field, also where it is called `__proto__`. */
function withOwn(value: object, name: string, item: unknown): object {
  return Object.fromEntries([...Object.entries(value), [name, item]]);
}
