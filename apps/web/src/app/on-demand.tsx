import { type ComponentType, type ReactNode, Suspense, useState } from 'react';
import { late } from './late.tsx';

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
