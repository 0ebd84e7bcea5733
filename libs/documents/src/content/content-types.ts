import type { DocumentContentType } from '@tracking/contracts';

export const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
export const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
export type OfficeType = Extract<DocumentContentType, typeof DOCX | typeof XLSX>;
