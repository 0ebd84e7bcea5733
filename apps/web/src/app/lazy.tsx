import { type SelectProps, TextInput } from '@mantine/core';
import { lazyRouteComponent } from '@tanstack/react-router';
import { type ComponentType, type ReactNode, Suspense, useState, lazy } from 'react';
import type { OneOfProps, SomeOfProps } from '../values/search-select.tsx';
import { PageNotLoaded } from './failures.ts';

/**
 * A page, whose code is loaded when it is gone to. Where that fails, the router by itself loads the whole window anew: good after an
 * update of the service, which has other files then, but where the service cannot be reached nothing would be left to look at.
 */
export const page: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(
    () =>
      load().catch(async (error: unknown) => {
        if (await isReachable()) throw error;
        throw new PageNotLoaded(error);
      }),
    name,
  );

function isReachable(): Promise<boolean> {
  return fetch('/', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/**
 * A dialog, or what else is not shown at first: its code is loaded when it is shown for the first time.
 * @param isShown by what it is given; always unless told
 */
export function onDemand<C extends (props: never) => ReactNode>(
  load: () => Promise<C>,
  isShown: (props: Parameters<C>[0]) => boolean = () => true,
): C {
  const Loaded = late(async () => ({ default: (await load()) as unknown as ComponentType<object> }));
  function OnDemand(props: Parameters<C>[0]) {
    const isNow = isShown(props);
    const [isWanted, setIsWanted] = useState(isNow);
    if (isNow && !isWanted) setIsWanted(true);
    if (!isWanted) return null;
    return (
      <Suspense fallback={null}>
        <Loaded {...(props as object)} />
      </Suspense>
    );
  }
  return OnDemand as unknown as C;
}

/**
 * A component whose code is loaded when it is first shown, within a `Suspense`. Where that failed it is asked for again the
 * next time: React alone would keep the failure for ever.
 */
export function late<P extends object>(load: () => Promise<{ readonly default: ComponentType<P> }>): ComponentType<P> {
  const made = () =>
    lazy(() =>
      load().catch((error: unknown) => {
        Loaded = made();
        throw error;
      }),
    ) as unknown as ComponentType<P>;
  let Loaded = made();
  return function Late(props: P) {
    return <Loaded {...props} />;
  };
}

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
