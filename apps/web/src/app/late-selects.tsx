import { type MultiSelectProps, type SelectProps, TextInput } from '@mantine/core';
import { type ComponentType, type ReactNode, Suspense } from 'react';
import { late } from './late.tsx';

const load = () => import('./selects.ts');
const LoadedMultiSelect = late(async () => ({
  default: (await load()).MultiSelect as ComponentType<MultiSelectProps>,
}));
const LoadedSelect = late(async () => ({ default: (await load()).Select as ComponentType<SelectProps> }));

/** For above a list: the rows do not wait for what opens the choices; until it is there, a field of its size stands there. */
export function LateMultiSelect(props: MultiSelectProps) {
  return (
    <Suspense fallback={<Meanwhile {...props} />}>
      <LoadedMultiSelect {...props} />
    </Suspense>
  );
}

/** Likewise, of one choice. */
export function LateSelect(props: SelectProps) {
  return (
    <Suspense fallback={<Meanwhile {...props} />}>
      <LoadedSelect {...props} />
    </Suspense>
  );
}

type Outside = Pick<SelectProps, 'className' | 'w' | 'miw' | 'maw'> & {
  readonly label?: ReactNode;
  readonly description?: ReactNode;
};

function Meanwhile({ label, description, className, w, miw, maw }: Outside) {
  return <TextInput {...{ label, description, className, w, miw, maw }} disabled aria-busy />;
}
