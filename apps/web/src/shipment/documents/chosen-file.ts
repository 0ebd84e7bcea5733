import type { DocumentContentType, DocumentType } from '@tracking/client';

/** By the ending of its name: what browsers call the same file differs from system to system. */
const CONTENT_TYPES: Readonly<Record<string, DocumentContentType>> = {
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  csv: 'text/csv',
  txt: 'text/plain',
  xml: 'application/xml',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};
export const TAKEN_ENDINGS = Object.keys(CONTENT_TYPES).map((ending) => `.${ending}`);

export const MOST_BYTES = 250 * 2 ** 20;

export function contentTypeOf(name: string): DocumentContentType | undefined {
  return CONTENT_TYPES[/\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''];
}

/** Why the service would refuse a file, known before it is sent; undefined where it would not. */
export function faultOf({ name, size }: Pick<File, 'name' | 'size'>): string | undefined {
  if (contentTypeOf(name) === undefined) return `Only ${TAKEN_ENDINGS.join(', ')} are taken.`;
  if (size === 0) return 'The file is empty.';
  if (size > MOST_BYTES) return 'The file is larger than 250 MiB.';
  return undefined;
}

/** What the name of a file lets suppose; the more special first. */
const HINTS: readonly (readonly [RegExp, DocumentType])[] = [
  [/house.?(bill|b.?l)|\bhbl\b/, 'house_bill'],
  [/sea.?way.?bill|\bswb\b/, 'sea_waybill'],
  [/air.?way.?bill|\bm?awb\b/, 'air_waybill'],
  [/bill.?of.?lading|\b(m?bl|bol|b_l)\b|konnossement/, 'bill_of_lading'],
  [/freight.?invoice/, 'freight_invoice'],
  [/invoice|\b(inv|ci)\b|factuur|rechnung/, 'commercial_invoice'],
  [/packing.?list|\bpl\b/, 'packing_list'],
  [/certificate.?of.?origin|\bcoo?\b|\beur.?1\b/, 'certificate_of_origin'],
  [/booking.?confirmation|booking/, 'booking_confirmation'],
  [/shipping.?instruction|\bsi\b/, 'shipping_instructions'],
  [/arrival.?notice/, 'arrival_notice'],
  [/delivery.?order/, 'delivery_order'],
  [/proof.?of.?delivery|\bpod\b|\bcmr\b/, 'proof_of_delivery'],
  [/customs|\bmrn\b|declaration.?of.?import/, 'customs_entry'],
  [/\bvgm\b|verified.?gross/, 'verified_gross_mass'],
  [/dangerous|\bdgd?\b|\bimo\b|\bmsds\b/, 'dangerous_goods_declaration'],
  [/phyto/, 'phytosanitary_certificate'],
  [/inspection/, 'inspection_certificate'],
  [/insurance/, 'insurance_certificate'],
];

/** The type that is offered for a file: a person sees and changes it before it is sent. */
export function supposedType(name: string): DocumentType {
  const plain = name.toLowerCase().replaceAll(/[_\s]+/g, ' ');
  const [, type] = HINTS.find(([hint]) => hint.test(plain)) ?? [];
  if (type !== undefined) return type;
  return contentTypeOf(name)?.startsWith('image/') ? 'photo' : 'other';
}
