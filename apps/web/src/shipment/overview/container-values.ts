import type { BodyOf } from '@tracking/client';
import type { Container } from './free-time.ts';

/** What may be said of a container, as people call it. */
export const CONTAINER_FIELDS = {
  size_type: 'Size and type',
  seal_number: 'Seal',
  last_free_day: 'Last free day',
  empty_return_by: 'Empty return by',
} as const;
export type ContainerField = keyof typeof CONTAINER_FIELDS;
/** As a form holds it: empty where nothing is said. */
export type ContainerValues = Readonly<Record<ContainerField, string>>;

const FIELDS = Object.keys(CONTAINER_FIELDS) as ContainerField[];

export function containerValues(container: Container | undefined): ContainerValues {
  return Object.fromEntries(FIELDS.map((field) => [field, container?.[field] ?? ''])) as ContainerValues;
}

/** What differs, null where it was cleared. */
export function containerChanges(before: Container | undefined, values: ContainerValues): BodyOf<'changeContainer'> {
  const said = FIELDS.map((field) => [field, values[field].trim() || null] as const);
  return Object.fromEntries(said.filter(([field, value]) => value !== (before?.[field] ?? null)));
}

/** In what may be said of it; what milestones tell may be another. */
export function isSameContainer(one: Container | undefined, other: Container | undefined): boolean {
  return FIELDS.every((field) => one?.[field] === other?.[field]);
}
