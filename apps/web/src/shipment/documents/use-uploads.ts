import { useQueryClient } from '@tanstack/react-query';
import type { DocumentType } from '@tracking/client';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { failureOf } from '../../app/failures.ts';
import { useApi } from '../../session/session.ts';
import { useShipment } from '../current-shipment.ts';
import { useShipmentTouches } from '../meanwhile/use-guarded-write.ts';
import { contentTypeOf, faultOf, supposedType } from './chosen-file.ts';
import { type TransferOptions, type Upload, UploadQueue } from './upload-queue.ts';

interface About {
  readonly type?: DocumentType;
  readonly replaces?: string;
}

/** The upload queue of the shipment shown when the section is opened. Leaving the section stops it. */
export function useUploads() {
  const [client, { id }, touches, queries] = [useApi(), useShipment(), useShipmentTouches(), useQueryClient()];
  const [queue] = useState(() => {
    const transfer = async ({ file, type, replaces }: Upload, { onProgress, signal }: TransferOptions) => {
      const content_type = contentTypeOf(file.name);
      const upload = {
        type,
        file,
        ...(content_type && { content_type }),
        ...(replaces && { replaces_document_id: replaces }),
      };
      await client.documents.upload(id, upload, { onProgress: ({ loaded }) => onProgress(loaded), signal });
      await Promise.all(touches.map((queryKey) => queries.invalidateQueries({ queryKey })));
    };
    return new UploadQueue({ transfer, describe: (error) => failureOf(error).message });
  });
  useEffect(() => () => queue.stop(), [queue]);
  return {
    queue,
    uploads: useSyncExternalStore(queue.subscribe, queue.state),
    choose: (files: readonly File[], { type, replaces }: About = {}) =>
      queue.choose(
        files.map((file) => ({ file, type: type ?? supposedType(file.name), replaces, fault: faultOf(file) })),
      ),
  };
}

export type Uploads = ReturnType<typeof useUploads>;
