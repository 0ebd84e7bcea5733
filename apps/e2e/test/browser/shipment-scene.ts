import type { Shipment, ShipmentDocument } from '@tracking/contracts';
import type { SignedInUser } from '../people.ts';
import { createPdf, createPng } from './paper.ts';

const DAY_MS = 24 * 3_600_000;

/** Ids by the path parameter that they replace. */
type Ids = Readonly<Record<'shipment' | 'exception' | 'milestone', string>>;

/**
 * Creates a shipment with documents in most states, exceptions in every state, milestones with a changed arrival, and a
 * history of all these changes.
 */
export async function createSampleShipment({ api, email }: SignedInUser): Promise<Ids> {
  await api.patch('/v1/settings', { required_documents: { ocean: ['bill_of_lading', 'packing_list', 'photo'] } });
  const fields = {
    external_id: 'PO-PAPERS',
    mode: 'ocean',
    origin_port: 'CNSHA',
    destination_port: 'NLRTM',
    container_numbers: ['CSQU3054383'],
    eta: new Date(Date.now() + 10 * DAY_MS).toISOString(),
  };
  const { id } = (await api.post<Shipment>('/v1/shipments', fields)).data;
  await api.patch(`/v1/shipments/${id}`, { carrier_scac: 'MAEU', house_bill: 'HBL-7' });
  const send = async (type: string, name: string, bytes: Buffer, replaces?: string) => {
    const form = new FormData();
    form.append('type', type);
    if (replaces !== undefined) form.append('replaces_document_id', replaces);
    form.append('file', new Blob([new Uint8Array(bytes)]), name);
    return (await api.post<ShipmentDocument>(`/v1/shipments/${id}/documents`, form)).data.id;
  };
  const bill = await send('bill_of_lading', 'bill.pdf', createPdf('Bill'));
  await api.post(`/v1/documents/${bill}/reject`, { reason: 'The seal number differs from the document.' });
  const second = await send('bill_of_lading', 'bill 2.pdf', createPdf('Bill'), bill);
  await api.post(`/v1/documents/${second}/approve`);
  await send('photo', 'a photo with a long file name that shows the seal on the left door.png', createPng(300, 200));
  await api.delete(`/v1/documents/${await send('other', 'mistake.pdf', createPdf('No'))}`);
  const open = async (type: string, more: object) =>
    (await api.post<{ id: string }>(`/v1/shipments/${id}/exceptions`, { type, ...more })).data.id;
  const exception = await open('container_damage', {
    severity: 'critical',
    container_number: 'CSQU3054383',
    detail: 'The door is bent.',
  });
  await api.post(`/v1/exceptions/${await open('seal_broken', { severity: 'high' })}/acknowledge`, { assignee: email });
  await api.post(`/v1/exceptions/${await open('shortage', {})}/resolve`, { code: 'waived', note: 'Agreed.' });
  const record = async (code: string, days: number, more: object) => {
    const occurred_at = new Date(Date.now() + days * DAY_MS).toISOString();
    return (await api.post<{ id: string }>(`/v1/shipments/${id}/milestones`, { code, occurred_at, ...more })).data.id;
  };
  await record('gated_in', -12, { location: 'CNSHA', container_number: 'CSQU3054383' });
  const milestone = await record('vessel_departed', -9, {
    location: 'CNSHA',
    vessel: 'Maersk Semarang',
    voyage: '644W',
  });
  const arrives = { location: 'NLRTM', classifier: 'estimated', reason_code: 'port_congestion' };
  await record('vessel_arrived', 11, arrives);
  await record('vessel_arrived', 13, arrives);
  return { shipment: id, exception, milestone };
}
