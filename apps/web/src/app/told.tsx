import { useNotifications } from '@mantine/notifications';
import { Suspense, useEffect, useState } from 'react';
import { Contained } from './contained.tsx';
import { late } from './late.tsx';

const load = () => import('./notifications.tsx');
const Notifications = late(load);
/** The page itself comes first. */
const AHEAD_MS = 3_000;

/** What pages tell at the edge of the window. How that is shown is loaded ahead: it may have to tell that there is no connection. */
export function Told() {
  const { notifications } = useNotifications();
  const [isUsed, setIsUsed] = useState(false);
  if (notifications.length > 0 && !isUsed) setIsUsed(true);
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => undefined), AHEAD_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Contained>
      <Suspense fallback={null}>{isUsed && <Notifications position="bottom-right" />}</Suspense>
    </Contained>
  );
}
