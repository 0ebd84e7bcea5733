import { eventSamples } from '@tracking/contracts';
import type { FeatureDocs } from '@tracking/http';

const AT = '2026-11-23T09:30:00.000Z';
const samples = eventSamples(AT, { appUrl: 'https://app.example.com', baseUrl: 'https://api.example.com' });

/** Examples of schemas, by name. */
export const SAMPLES: NonNullable<FeatureDocs['samples']> = {
  Document: samples.document('uploaded'),
  DocumentUpload: {
    ...samples.document('uploaded'),
    status: 'pending_upload',
    uploaded_at: null,
    download_url: null,
    upload: {
      method: 'PUT',
      url: 'https://api.example.com/v1/documents/doc_sandbox2sandbox2sandbox2aa1/content?token=0aB1cD2eF3gH4iJ5kL6mN7oP',
      headers: { 'content-type': 'application/pdf' },
      expires_at: '2026-11-23T09:45:00.000Z',
    },
  },
};

/** Example values of fields, by name. */
export const VALUES: NonNullable<FeatureDocs['values']> = {
  file: 'The bytes of bill-of-lading.pdf',
  replaces_document_id: 'doc_sandbox2sandbox2sandbox2aa0',
};

/** Noun and example id of a single resource, by the collection in its path. */
export const RESOURCES = {
  documents: ['document', 'doc_4h2k7qv3n5xw6yz2aabbccddeeh2k7qv3n5xw6'],
} as const satisfies FeatureDocs['resources'];
