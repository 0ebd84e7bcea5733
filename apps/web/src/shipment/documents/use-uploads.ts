import { useQueryClient } from '@tanstack/react-query';
import type { DocumentType } from '@tracking/client';
import { useEffect, useReducer, useRef } from 'react';
import { failureOf } from '../../app/failures.ts';
import { useApi } from '../../session/session.ts';
import { useShipment } from '../current-shipment.ts';
import { useShipmentTouches } from '../meanwhile/use-guarded-write.ts';
import { contentTypeOf, faultOf, supposedType } from './chosen-file.ts';
import { type Upload, reduceUploads } from './uploads.ts';

/** What is known of files beside themselves. */
interface About {
  readonly type?: DocumentType;
  readonly replaces?: string;
}

/** Files that are chosen, sent one after another, and tried again where somebody asks for it. Leaving the section ends them. */
export function useUploads() {
  const [client, { id }, touches, queries] = [useApi(), useShipment(), useShipmentTouches(), useQueryClient()];
  const [uploads, act] = useReducer(reduceUploads, []);
  const lastKey = useRef(0);
  const underWay = useRef(new Map<number, AbortController>());
  useEffect(() => {
    const all = underWay.current;
    return () => all.forEach((one) => one.abort());
  }, []);

  const sendOne = async ({ key, file, type, replaces }: Upload) => {
    const ended = new AbortController();
    underWay.current.set(key, ended);
    act({ kind: 'send', key });
    try {
      const content_type = contentTypeOf(file.name);
      const upload = {
        type,
        file,
        ...(content_type && { content_type }),
        ...(replaces && { replaces_document_id: replaces }),
      };
      const onProgress = ({ loaded }: { readonly loaded: number }) => act({ kind: 'progress', key, loaded });
      await client.documents.upload(id, upload, { onProgress, signal: ended.signal });
      await Promise.all(touches.map((queryKey) => queries.invalidateQueries({ queryKey })));
      act({ kind: 'end', key });
    } catch (error) {
      if (!ended.signal.aborted) act({ kind: 'fail', key, fault: failureOf(error).message });
    } finally {
      underWay.current.delete(key);
    }
  };

  return {
    uploads,
    choose: (files: readonly File[], { type, replaces }: About = {}) =>
      act({
        kind: 'choose',
        uploads: files.map((file) => ({
          key: (lastKey.current += 1),
          file,
          type: type ?? supposedType(file.name),
          replaces,
          fault: faultOf(file),
        })),
      }),
    setType: (key: number, type: DocumentType) => act({ kind: 'type', key, type }),
    send: async (which: readonly Upload[]) => {
      for (const upload of which) await sendOne(upload);
    },
    remove: (key: number) => {
      underWay.current.get(key)?.abort();
      act({ kind: 'end', key });
    },
  };
}

export type Uploads = ReturnType<typeof useUploads>;
