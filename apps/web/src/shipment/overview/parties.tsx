import type { Shipment } from '@tracking/client';
import { LOAD_TYPE_LABELS, MODE_LABELS } from '../../values/codes.ts';
import { Time } from '../../values/time.tsx';
import { useShipment } from '../current-shipment.ts';
import { Facts } from '../facts.tsx';

export function Parties() {
  const { shipper, consignee, carrier_scac } = useShipment();
  return (
    <Facts
      facts={[
        ['Shipper', partyLabel(shipper)],
        ['Consignee', partyLabel(consignee)],
        ['Carrier', carrier_scac ?? '—'],
      ]}
    />
  );
}

function partyLabel(party: Shipment['shipper']): string {
  if (party === null) return '—';
  const { name, external_id } = party;
  return name === null ? (external_id ?? '—') : external_id === null ? name : `${name} (${external_id})`;
}

export function References() {
  const shipment = useShipment();
  const { mode, load_type, references, metadata } = shipment;
  return (
    <Facts
      facts={[
        ['Your reference', shipment.external_id],
        ['House bill', shipment.house_bill],
        [mode === 'air' ? 'Air waybill' : 'Master bill', shipment.master_bill],
        ['Booking', shipment.booking_number],
        ...references.map(({ type, value }) => [type, value] as const),
        ['Mode', mode && MODE_LABELS[mode]],
        ['Load', load_type && LOAD_TYPE_LABELS[load_type]],
        ...Object.entries(metadata ?? {}),
        ['Id', shipment.id],
        ['Created', <Time key="created" value={shipment.created_at} />],
        ['Changed', <Time key="changed" value={shipment.updated_at} />],
      ]}
    />
  );
}
