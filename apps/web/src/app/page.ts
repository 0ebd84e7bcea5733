import { lazyRouteComponent } from '@tanstack/react-router';
import { PageNotLoaded } from './page-not-loaded.ts';

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
