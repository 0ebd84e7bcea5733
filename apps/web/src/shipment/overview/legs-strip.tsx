import { Alert, Text } from '@mantine/core';
import { MODE_LABELS } from '../../values/codes.ts';
import { PlaceName, PlaceTime, usePlaces } from '../../values/place.tsx';
import { useShipment } from '../current-shipment.ts';
import classes from './legs-strip.module.css';
import { type Expected, type Leg, type Stop, stopsOf } from './stops.ts';

const STATES = { left: 'Left', here: 'Here now', ahead: 'Ahead' } as const;

/** The places of the journey in order, each with its times by its own clocks and the reader's. */
export function LegsStrip() {
  const { legs } = useShipment();
  const stops = stopsOf(legs);
  const places = usePlaces(stops.map(({ place }) => place));
  if (stops.length === 0) return <Alert title="No journey yet">It has neither legs nor ports.</Alert>;
  return (
    <ol className={classes['strip']}>
      {stops.map((stop, index) => (
        <li key={index} className={classes['stop']} data-state={stop.state}>
          <Text fw={600} size="sm" component="div">
            <PlaceName code={stop.place} />
          </Text>
          <Text size="xs" c="dimmed" component="div">
            {STATES[stop.state]}
          </Text>
          <Times stop={stop} zone={places.get(stop.place ?? '')?.timezone} />
          {stop.onward !== undefined && <Onward leg={stop.onward} />}
        </li>
      ))}
    </ol>
  );
}

function Times({
  stop: { arrival, departure },
  zone,
}: {
  readonly stop: Stop;
  readonly zone: string | null | undefined;
}) {
  return (
    <dl className={classes['times']}>
      {arrival !== undefined && <When name="Arrival" when={arrival} zone={zone} />}
      {departure !== undefined && <When name="Departure" when={departure} zone={zone} />}
    </dl>
  );
}

interface WhenProps {
  readonly name: string;
  readonly when: Expected;
  readonly zone: string | null | undefined;
}

function When({ name, when: { estimated, actual }, zone }: WhenProps) {
  return (
    <div>
      <dt>{actual === null ? `${name}, estimated` : name}</dt>
      <dd>
        <PlaceTime value={actual ?? estimated} zone={zone} />
      </dd>
    </div>
  );
}

function Onward({ leg: { mode, vessel, voyage, carrier_scac } }: { readonly leg: Leg }) {
  const by = [mode && MODE_LABELS[mode], carrier_scac, vessel, voyage].filter(Boolean);
  return (
    <Text size="xs" className={classes['onward']}>
      {by.length === 0 ? 'onward' : by.join(' · ')} →
    </Text>
  );
}
