import type { ReactNode } from 'react';
import classes from './facts.module.css';

interface Props {
  readonly facts: readonly (readonly [name: string, value: ReactNode])[];
}

/** Names and values; those without a value are left out. */
export function Facts({ facts }: Props) {
  return (
    <dl className={classes['facts']}>
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value], index) => (
          // Two may have the same name.
          <div key={`${name} ${index}`}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
