import { Text } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useEnvironment } from '../../session/session.ts';
import { PlaceOrText } from '../../values/place.tsx';
import { Time } from '../../values/time.tsx';
import { dayLabel } from '../../values/zones.ts';
import { useShipment } from '../current-shipment.ts';
import { explanationQuery, milestonesQuery } from '../shipment-queries.ts';
import classes from './glance.module.css';
import { type Next, whatComesNext } from './what-comes-next.ts';

const SHOWN = 4;

export function WhatComesNext() {
  const [shipment, environment] = [useShipment(), useEnvironment()];
  const milestones = useQuery(milestonesQuery(environment, shipment.id));
  const explanation = useQuery(explanationQuery(environment, shipment.id));
  // What is overdue becomes so while one looks.
  const [now, setNow] = useState(() => Date.now());
  useInterval(() => setNow(Date.now()), 60_000, { autoInvoke: true });
  const known = { shipment, milestones: milestones.data ?? [], explanation: explanation.data, now };
  const next = whatComesNext(known);
  if (next.length === 0) return <Text size="sm">{nothing(shipment.status)}</Text>;
  return (
    <ul className={classes['list']}>
      {next.slice(0, SHOWN).map((each) => (
        <Item key={[each.label, each.at, each.place, each.container].join(' ')} next={each} />
      ))}
      {next.length > SHOWN && <li>and {next.length - SHOWN} more</li>}
    </ul>
  );
}

function Item({ next: { label, at, isDay, place, container, isOverdue } }: { readonly next: Next }) {
  return (
    <li>
      {label}
      {place !== null && (
        <>
          {' '}
          · <PlaceOrText name={place} />
        </>
      )}
      {container !== null && ` · ${container}`},{' '}
      {isDay ? <time dateTime={at}>{dayLabel(at)}</time> : <Time value={at} />}
      {isOverdue && (
        <Text span inherit fw={600} className="late">
          {' '}
          overdue
        </Text>
      )}
    </li>
  );
}

function nothing(status: string): string {
  return ['completed', 'returned', 'cancelled'].includes(status)
    ? 'Nothing: it is over'
    : 'Nothing that anybody has said';
}
