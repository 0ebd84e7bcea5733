import { type ComponentType, lazy } from 'react';

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
