import { Paper } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './narrow.module.css';

/** A page of one form, before anybody is signed in. */
export function Narrow({ children }: { readonly children: ReactNode }) {
  return (
    <main className={classes['page']}>
      <Paper withBorder p="xl" className={classes['card']}>
        {children}
      </Paper>
    </main>
  );
}
