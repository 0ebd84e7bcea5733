import '@mantine/dropzone/styles.css';
import { Button, CloseButton, Group, Progress, Stack, Text } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { IconUpload } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import type { DocumentType } from '@tracking/client';
import { type Ref, useEffect, useImperativeHandle, useRef, useState, useSyncExternalStore } from 'react';
import { describeFailure } from '../../app/failures.ts';
import { useApi } from '../../session/session.ts';
import { formatFileSize } from '../../values/files.ts';
import { SearchableSelectField } from '../../values/search-select.tsx';
import { DOCUMENT_TYPE_LABELS, DOCUMENT_TYPES } from '../labels.ts';
import { useQueryKeysOfShipmentPage } from '../concurrent-changes/guarded-write.ts';
import { useShipmentOfPage } from '../shipment-queries.ts';
import classes from './documents-section.module.css';
import {
  type FileUploadOptions,
  type QueuedUpload,
  UploadQueue,
  getContentTypeOfFileName,
  findFileError,
  guessDocumentType,
} from './upload-queue.ts';

interface DocumentUploadDefaults {
  readonly type?: DocumentType;
  readonly replaces?: string;
}

export interface DropZoneHandle {
  /**
   * Opens the file chooser of the drop zone. The chosen file gets the given document type, and replaces the given
   * document.
   */
  readonly choose: (about: DocumentUploadDefaults) => void;
}

/** Area that accepts dropped or chosen files, with the progress of their uploads. */
export function DropZone({ ref }: { readonly ref: Ref<DropZoneHandle> }) {
  const uploads = useUploadQueue();
  const openFiles = useRef<() => void>(null);
  const about = useRef<DocumentUploadDefaults>({});
  useImperativeHandle(
    ref,
    () => ({
      choose: (of) => {
        about.current = of;
        openFiles.current?.();
      },
    }),
    [],
  );
  useBlocker({
    // The upload continues while a preview is opened or closed, because the path of the page stays the same.
    shouldBlockFn: ({ current, next }) =>
      current.pathname !== next.pathname &&
      !globalThis.confirm('Files are still uploading. Leave this page and stop the upload?'),
    enableBeforeUnload: true,
    disabled: !uploads.uploads.some(({ state }) => state === 'sending'),
  });
  const choose = (files: readonly File[]) => {
    const of = about.current;
    about.current = {};
    // The given document type and replaced document are used only if the user chose a single file.
    uploads.choose(files, files.length === 1 ? of : {});
  };
  return (
    <Stack gap="xs">
      <Dropzone
        openRef={openFiles}
        onDrop={choose}
        onFileDialogCancel={() => (about.current = {})}
        p="sm"
        inputProps={{ 'aria-label': 'Document files' }}
        aria-label="Drop files here, or click to choose them"
      >
        <Group gap="sm" wrap="nowrap">
          <IconUpload size={22} aria-hidden />
          <div>
            <Text size="sm">Drop files here, or click to choose them</Text>
            <Text size="xs" c="dimmed">
              PDF, images, Word, Excel, CSV, text and XML, up to 250 MiB each
            </Text>
          </div>
        </Group>
      </Dropzone>
      <UploadList uploads={uploads} />
    </Stack>
  );
}

const DOCUMENT_TYPE_OPTIONS = DOCUMENT_TYPES.map((value) => ({ value, label: DOCUMENT_TYPE_LABELS[value] }));

/** List of the chosen files, with document type, progress and errors. */
function UploadList({ uploads: { uploads, queue } }: { readonly uploads: Uploads }) {
  const waiting = uploads.filter(({ state }) => state === 'chosen');
  const isSending = uploads.some(({ state }) => state === 'sending');
  if (uploads.length === 0) return null;
  return (
    <Stack gap="xs">
      <ul className={classes['uploads']} aria-label="Files to upload">
        {uploads.map((upload) => (
          <li key={upload.key}>
            <UploadRow
              upload={upload}
              onType={(type) => queue.setUploadDocumentType(upload.key, type)}
              onRemove={() => queue.removeUpload(upload.key)}
            >
              {upload.state === 'failed' && !isSending && (
                <Button size="xs" variant="default" onClick={() => void queue.uploadFiles([upload.key])}>
                  Try again
                </Button>
              )}
            </UploadRow>
          </li>
        ))}
      </ul>
      {waiting.length > 0 && (
        <Button
          w="fit-content"
          loading={isSending}
          onClick={() => void queue.uploadFiles(waiting.map(({ key }) => key))}
        >
          {waiting.length === 1 ? 'Upload file' : `Upload ${waiting.length} files`}
        </Button>
      )}
    </Stack>
  );
}

interface UploadRowProps {
  readonly upload: QueuedUpload;
  readonly onType: (type: DocumentType) => void;
  readonly onRemove: () => void;
  readonly children: React.ReactNode;
}

function UploadRow({
  upload: { file, type, state, loaded, error, replaces },
  onType,
  onRemove,
  children,
}: UploadRowProps) {
  const percent = file.size === 0 ? 0 : Math.min(100, Math.round((loaded / file.size) * 100));
  return (
    <Stack gap={4}>
      <Group gap="sm" justify="space-between">
        <Text size="sm" className={classes['name']}>
          {file.name}{' '}
          <Text span c="dimmed" size="xs">
            {formatFileSize(file.size)}
            {replaces !== undefined && ' · Replaces the previous version'}
          </Text>
        </Text>
        <Group gap="xs" wrap="nowrap">
          <SearchableSelectField
            size="xs"
            aria-label={`Document type of ${file.name}`}
            data={DOCUMENT_TYPE_OPTIONS}
            value={type}
            onChange={(value) => value !== null && onType(value as DocumentType)}
            allowDeselect={false}
            disabled={state === 'sending'}
          />
          {children}
          <CloseButton
            aria-label={state === 'sending' ? `Stop upload of ${file.name}` : `Remove ${file.name}`}
            onClick={onRemove}
          />
        </Group>
      </Group>
      {state === 'sending' && (
        <Group gap="xs" wrap="nowrap">
          <Progress value={percent} flex={1} aria-label={`Upload progress of ${file.name}`} />
          <Text size="xs" c="dimmed">
            {percent < 100 ? `${percent} %` : 'Checking…'}
          </Text>
        </Group>
      )}
      {error !== undefined && (
        <Text size="xs" className="late" role="alert">
          {error}
        </Text>
      )}
    </Stack>
  );
}

/** Creates the upload queue of the current shipment. The uploads stop when the user leaves the documents section. */
function useUploadQueue() {
  const [client, { id }, touches, queries] = [
    useApi(),
    useShipmentOfPage(),
    useQueryKeysOfShipmentPage(),
    useQueryClient(),
  ];
  const [queue] = useState(() => {
    const transfer = async ({ file, type, replaces }: QueuedUpload, { onProgress, signal }: FileUploadOptions) => {
      const content_type = getContentTypeOfFileName(file.name);
      const upload = {
        type,
        file,
        ...(content_type && { content_type }),
        ...(replaces && { replaces_document_id: replaces }),
      };
      await client.documents.upload(id, upload, { onProgress: ({ loaded }) => onProgress(loaded), signal });
      await Promise.all(touches.map((queryKey) => queries.invalidateQueries({ queryKey })));
    };
    return new UploadQueue({ transfer, describe: (error) => describeFailure(error).message });
  });
  useEffect(() => () => queue.stopUploads(), [queue]);
  return {
    queue,
    uploads: useSyncExternalStore(queue.subscribe, queue.state),
    choose: (files: readonly File[], { type, replaces }: DocumentUploadDefaults = {}) =>
      queue.addFilesToUploadQueue(
        files.map((file) => ({
          file,
          type: type ?? guessDocumentType(file.name),
          replaces,
          error: findFileError(file),
        })),
      ),
  };
}

type Uploads = ReturnType<typeof useUploadQueue>;
