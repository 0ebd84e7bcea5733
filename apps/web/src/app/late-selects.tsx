import { type SelectProps, TextInput } from '@mantine/core';
import { type ReactNode, Suspense } from 'react';
import { late } from './lazy.tsx';
import type { OneOfProps, SomeOfProps } from '../values/search-select.tsx';

const load = () => import('../values/search-select.tsx');
const LoadedMultiSelect = late(async () => ({ default: (await load()).SomeOf }));
const LoadedSelect = late(async () => ({ default: (await load()).OneOf }));

/** For above a list: the rows do not wait for what opens the choices; until it is there, a field of its size stands there. */
export function LateMultiSelect(props: SomeOfProps) {
  return (
    <Suspense fallback={<Meanwhile {...props} />}>
      <LoadedMultiSelect {...props} />
    </Suspense>
  );
}

/** Likewise, of one choice. */
export function LateSelect(props: OneOfProps) {
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
