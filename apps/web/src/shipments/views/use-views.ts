import { useLocalStorage } from '@mantine/hooks';
import { useSession } from '../../session/session.ts';
import { readViews, type View } from './views.ts';

/** Of one person in one workspace, kept by this browser. */
export function useViews() {
  const { workspace, user } = useSession();
  return useLocalStorage<readonly View[]>({
    key: `shipment-views:${workspace.id}:${user?.id}`,
    defaultValue: [],
    serialize: JSON.stringify,
    deserialize: readViews,
  });
}
