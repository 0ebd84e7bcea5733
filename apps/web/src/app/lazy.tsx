import { type SelectProps, TextInput } from '@mantine/core';
import { lazyRouteComponent } from '@tanstack/react-router';
import { type ComponentType, type ReactNode, Suspense, createElement, lazy, useState } from 'react';
import type {
  OptionallySearchableSelectProps,
  OptionallySearchableMultiSelectProps,
} from '../values/search-select.tsx';
import { PageNotLoadedError } from './failures.ts';

/**
 * Creates a page component whose code is loaded when the page is opened. If the import fails, the router reloads the
 * window. The reload helps after an update of the service, which renames the files. If the service is unreachable, a
 * reload would leave an empty window. In this case the component throws a `PageNotLoadedError`.
 */
export const createLazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(
    () =>
      load().catch(async (error: unknown) => {
        if (await isServiceReachable()) throw error;
        throw new PageNotLoadedError(error);
      }),
    name,
  );

function isServiceReachable(): Promise<boolean> {
  return fetch('/', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/**
 * Creates a component that is hidden at first, such as a dialog. The component's code is loaded when the component is
 * first shown.
 * @param isShown returns true if the props show the component; by default, the component is always shown
 */
export function createOnDemandComponent<P extends object>(
  load: () => Promise<ComponentType<P>>,
  isShown: (props: P) => boolean = () => true,
): ComponentType<P> {
  const Loaded = createLazyComponentWithImportRetry(async () => ({ default: await load() }));
  return function OnDemand(props: P) {
    const isVisible = isShown(props);
    const [isWanted, setIsWanted] = useState(isVisible);
    if (isVisible && !isWanted) setIsWanted(true);
    if (!isWanted) return null;
    return (
      <Suspense fallback={null}>
        <Loaded {...props} />
      </Suspense>
    );
  };
}

/**
 * Creates a lazy component for use within a `Suspense`. After a failed import, the next render tries again. React's own
 * `lazy` would never retry.
 */
export function createLazyComponentWithImportRetry<P extends object>(
  load: () => Promise<{ readonly default: ComponentType<P> }>,
): ComponentType<P> {
  const retrying = () =>
    lazy<ComponentType<P>>(() =>
      load().catch((error: unknown) => {
        Loaded = retrying();
        throw error;
      }),
    );
  let Loaded = retrying();
  return function Late(props: P) {
    return createElement(Loaded, props);
  };
}

const loadSearchSelects = () => import('../values/search-select.tsx');
const MultiSelectLoadedOnDemand = createLazyComponentWithImportRetry(async () => ({
  default: (await loadSearchSelects()).OptionallySearchableMultiSelect,
}));
const LazySearchableSelect = createLazyComponentWithImportRetry(async () => ({
  default: (await loadSearchSelects()).OptionallySearchableSelect,
}));

/**
 * A multi-select field above a list. The code of the field is loaded on demand, which saves 10 KB on the first load of
 * each list. While the code loads, a disabled field of the same size is shown.
 */
export function LazyMultiSelect(props: OptionallySearchableMultiSelectProps) {
  return (
    <Suspense fallback={<SelectPlaceholder {...props} />}>
      <MultiSelectLoadedOnDemand {...props} />
    </Suspense>
  );
}

/**
 * A select field above a list. The code of the field is loaded on demand. While the code loads, a disabled field is
 * shown.
 */
export function LazySelect(props: OptionallySearchableSelectProps) {
  return (
    <Suspense fallback={<SelectPlaceholder {...props} />}>
      <LazySearchableSelect {...props} />
    </Suspense>
  );
}

type PlaceholderProps = Pick<SelectProps, 'className' | 'w' | 'miw' | 'maw'> & {
  readonly label?: ReactNode;
  readonly description?: ReactNode;
};

function SelectPlaceholder({ label, description, className, w, miw, maw }: PlaceholderProps) {
  return <TextInput {...{ label, description, className, w, miw, maw }} disabled aria-busy />;
}
