import { Alert } from '@mantine/core';
import { useNetwork } from '@mantine/hooks';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useLive } from '../live/live-events.ts';
import classes from './offline.module.css';

/**
 * Over every page while the browser has no connection, or what happens is not told. What was read stays in view; reads go on by
 * themselves.
 */
export function Offline() {
  const { online } = useNetwork();
  const { isOn } = useLive();
  if (online && isOn !== false) return null;
  return (
    <Alert
      role="status"
      color="orange"
      icon={<IconPlugConnectedX aria-hidden />}
      title={online ? 'The connection is lost' : 'You are offline'}
      className={classes['offline']}
    >
      What you see may be old. It is brought up to date once the connection is back.
    </Alert>
  );
}
