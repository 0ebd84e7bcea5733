import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './fact.module.css';

/** Several, side by side where there is room. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return <div className={classes['facts']}>{children}</div>;
}

/** A value under what it is. */
export function Fact({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className={classes['fact']}>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text component="div" size="sm" fw={600}>
        {children}
      </Text>
    </div>
  );
}
