import { Alert, Stack, Text } from '@mantine/core';
import type { Shipment } from '@tracking/client';
import {
  PLAIN_SHIPMENT_FIELD_NAMES,
  type PlainFieldName,
  getPlainFieldDefinition,
} from '../../shipments/plain-fields.ts';
import { LOAD_TYPE_LABELS, TRANSPORT_MODE_LABELS } from '../../values/codes.ts';
import { PlaceName, PlaceTimeText, usePlaces } from '../../values/place.tsx';
import { UserLocalTimeText } from '../../values/time.tsx';
import { TitledCard, PropertyList } from '../parts.tsx';
import { useShipmentOfPage } from '../shipment-queries.ts';
import { ContainersTable } from './containers-table.tsx';
import classes from './overview-section.module.css';
import { type EstimatedAndActualTime, type Leg, type JourneyStop, listJourneyStops } from './overview-values.ts';

/** Section with the journey, the containers, the parties and the references of the shipment. */
export function ShipmentOverviewSection() {
  return (
    <Stack gap="sm">
      <TitledCard title="Journey">
        <JourneyStopList />
      </TitledCard>
      <TitledCard title="Containers">
        <ContainersTable />
      </TitledCard>
      <div className={classes['two']}>
        <TitledCard title="Parties">
          <ShipmentPartyList />
        </TitledCard>
        <TitledCard title="References">
          <ShipmentReferenceList />
        </TitledCard>
      </div>
    </Stack>
  );
}

const JOURNEY_STOP_STATE_LABELS = { left: 'Departed', here: 'Shipment is here', ahead: 'Upcoming' } as const;

/** Shows the stops of the journey in travel order. Each time is shown in the time zone of the place and of the user. */
function JourneyStopList() {
  const { legs } = useShipmentOfPage();
  const stops = listJourneyStops(legs);
  const places = usePlaces(stops.map(({ place }) => place));
  if (stops.length === 0) return <Alert title="No journey yet">Add an origin and a destination, or legs.</Alert>;
  return (
    <ol className={classes['strip']}>
      {stops.map((stop, index) => (
        <li key={index} className={classes['stop']} data-state={stop.state}>
          <Text fw={600} size="sm" component="div">
            <PlaceName code={stop.place} />
          </Text>
          <Text size="xs" c="dimmed" component="div">
            {JOURNEY_STOP_STATE_LABELS[stop.state]}
          </Text>
          <JourneyStopTimeList stop={stop} zone={places.get(stop.place ?? '')?.timezone} />
          {stop.onward !== undefined && <NextLegLabel leg={stop.onward} />}
        </li>
      ))}
    </ol>
  );
}

function JourneyStopTimeList({
  stop: { arrival, departure },
  zone,
}: {
  readonly stop: JourneyStop;
  readonly zone: string | null | undefined;
}) {
  return (
    <dl className={classes['times']}>
      {arrival !== undefined && <StopTimeEntry name="Arrival" when={arrival} zone={zone} />}
      {departure !== undefined && <StopTimeEntry name="Departure" when={departure} zone={zone} />}
    </dl>
  );
}

interface StopTimeProps {
  readonly name: string;
  readonly when: EstimatedAndActualTime;
  readonly zone: string | null | undefined;
}

function StopTimeEntry({ name, when: { estimated, estimatedPrecision, actual }, zone }: StopTimeProps) {
  return (
    <div>
      <dt>{actual === null ? `${name}, estimated` : name}</dt>
      <dd>
        <PlaceTimeText
          value={actual ?? estimated}
          zone={zone}
          precision={actual === null ? estimatedPrecision : 'time'}
        />
      </dd>
    </div>
  );
}

function NextLegLabel({ leg: { mode, vessel, voyage, carrier_scac } }: { readonly leg: Leg }) {
  const by = [mode && TRANSPORT_MODE_LABELS[mode], carrier_scac, vessel, voyage].filter(Boolean);
  return (
    <Text size="xs" className={classes['onward']}>
      {by.length === 0 ? 'Next leg' : by.join(' · ')} →
    </Text>
  );
}

function ShipmentPartyList() {
  const { shipper, consignee, carrier_scac } = useShipmentOfPage();
  return (
    <PropertyList
      facts={[
        ['Shipper', formatParty(shipper)],
        ['Consignee', formatParty(consignee)],
        ['Carrier', carrier_scac ?? '—'],
      ]}
    />
  );
}

function formatParty(party: Shipment['shipper']): string {
  if (party === null) return '—';
  const { name, external_id } = party;
  return name === null ? (external_id ?? '—') : external_id === null ? name : `${name} (${external_id})`;
}

function getReferenceLabel(name: PlainFieldName, { mode }: Shipment): string {
  if (name === 'master_bill' && mode === 'air') return 'Air waybill';
  const { label, shortLabel = label } = getPlainFieldDefinition(name);
  return shortLabel;
}

function ShipmentReferenceList() {
  const shipment = useShipmentOfPage();
  const { mode, load_type, references, metadata } = shipment;
  return (
    <PropertyList
      facts={[
        ['Your reference', shipment.external_id],
        ...PLAIN_SHIPMENT_FIELD_NAMES.map((name) => [getReferenceLabel(name, shipment), shipment[name]] as const),
        ...references.map(({ type, value }) => [type, value] as const),
        ['Mode', mode && TRANSPORT_MODE_LABELS[mode]],
        ['Load type', load_type && LOAD_TYPE_LABELS[load_type]],
        ...Object.entries(metadata ?? {}),
        ['ID', shipment.id],
        ['Created', <UserLocalTimeText key="created" value={shipment.created_at} />],
        ['Updated', <UserLocalTimeText key="changed" value={shipment.updated_at} />],
      ]}
    />
  );
}
