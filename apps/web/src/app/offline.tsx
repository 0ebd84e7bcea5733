import { Alert } from '@mantine/core';
import { useNetwork } from '@mantine/hooks';
import { IconPlugConnectedX } from '@tabler/icons-react';
import classes from './offline.module.css';

/** Over the end of every page while the browser has no connection. What was read stays in view; reads go on by themselves. */
export function Offline() {
  const { online } = useNetwork();
  if (online) return null;
  return (
    <Alert
      role="status"
      color="orange"
      icon={<IconPlugConnectedX aria-hidden />}
      title="You are offline"
      className={classes['offline']}
    >
      What you see may be old. It is brought up to date once the connection is back.
    </Alert>
  );
}
