import type { DocumentContentType, DocumentType, ShipmentDocument } from '@tracking/client';

export const DOCUMENT_LABELS: Readonly<Record<DocumentType, string>> = {
  bill_of_lading: 'Bill of lading',
  house_bill: 'House bill',
  sea_waybill: 'Sea waybill',
  air_waybill: 'Air waybill',
  commercial_invoice: 'Commercial invoice',
  packing_list: 'Packing list',
  certificate_of_origin: 'Certificate of origin',
  booking_confirmation: 'Booking confirmation',
  shipping_instructions: 'Shipping instructions',
  arrival_notice: 'Arrival notice',
  delivery_order: 'Delivery order',
  proof_of_delivery: 'Proof of delivery',
  customs_entry: 'Customs entry',
  verified_gross_mass: 'Verified gross mass (VGM)',
  dangerous_goods_declaration: 'Dangerous goods declaration',
  inspection_certificate: 'Inspection certificate',
  phytosanitary_certificate: 'Phytosanitary certificate',
  insurance_certificate: 'Insurance certificate',
  freight_invoice: 'Freight invoice',
  photo: 'Photo',
  other: 'Other',
};
export const DOCUMENT_TYPES = Object.keys(DOCUMENT_LABELS) as readonly DocumentType[];

export const DOCUMENT_STATUS_LABELS: Readonly<Record<ShipmentDocument['status'], string>> = {
  pending_upload: 'Waits for its file',
  uploaded: 'To be reviewed',
  approved: 'Approved',
  rejected: 'Rejected',
  expired: 'File never came',
  deleted: 'Deleted',
};
export const DOCUMENT_STATUS_COLORS: Readonly<Record<ShipmentDocument['status'], string>> = {
  pending_upload: 'gray',
  uploaded: 'blue',
  approved: 'green',
  rejected: 'red',
  expired: 'gray',
  deleted: 'gray',
};

export const CONTENT_LABELS: Readonly<Record<DocumentContentType, string>> = {
  'application/pdf': 'PDF',
  'image/png': 'PNG',
  'image/jpeg': 'JPEG',
  'image/tiff': 'TIFF',
  'text/csv': 'CSV',
  'text/plain': 'Text',
  'application/xml': 'XML',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'Word',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'Excel',
};
