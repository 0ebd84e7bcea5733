import type { DocumentType } from '@tracking/client';

/** A file on its way to become a document. */
export interface Upload {
  readonly key: number;
  readonly file: File;
  readonly type: DocumentType;
  /** The document that it takes the place of. */
  readonly replaces?: string;
  /** `chosen`: not sent yet. What is stored leaves the list: it is a document then. */
  readonly state: 'chosen' | 'sending' | 'failed';
  /** Bytes that were sent. */
  readonly loaded: number;
  readonly fault?: string;
}

export type UploadAction =
  | { readonly kind: 'choose'; readonly uploads: readonly Omit<Upload, 'state' | 'loaded'>[] }
  | { readonly kind: 'type'; readonly key: number; readonly type: DocumentType }
  | { readonly kind: 'send'; readonly key: number }
  | { readonly kind: 'progress'; readonly key: number; readonly loaded: number }
  | { readonly kind: 'fail'; readonly key: number; readonly fault: string }
  | { readonly kind: 'end'; readonly key: number };

/** The uploads after an action; one of an upload that is no longer there changes nothing. */
export function reduceUploads(uploads: readonly Upload[], action: UploadAction): readonly Upload[] {
  if (action.kind === 'choose') {
    const chosen = action.uploads.map((upload): Upload => ({
      ...upload,
      state: upload.fault === undefined ? 'chosen' : 'failed',
      loaded: 0,
    }));
    return [...uploads, ...chosen];
  }
  if (action.kind === 'end') return uploads.filter(({ key }) => key !== action.key);
  return uploads.map((upload) => (upload.key === action.key ? changed(upload, action) : upload));
}

function changed(upload: Upload, action: Exclude<UploadAction, { kind: 'choose' | 'end' }>): Upload {
  switch (action.kind) {
    case 'type':
      return { ...upload, type: action.type };
    case 'send': {
      const { fault: _, ...rest } = upload;
      return { ...rest, state: 'sending', loaded: 0 };
    }
    case 'progress':
      return { ...upload, loaded: action.loaded };
    case 'fail':
      return { ...upload, state: 'failed', fault: action.fault };
  }
}
