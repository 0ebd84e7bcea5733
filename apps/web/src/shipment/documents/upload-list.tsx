import { Button, CloseButton, Group, Progress, Stack, Text } from '@mantine/core';
import type { DocumentType } from '@tracking/client';
import { DOCUMENT_LABELS, DOCUMENT_TYPES } from '../../documents/document-labels.ts';
import { fileSize } from '../../values/files.ts';
import { SearchSelect } from '../../values/search-select.tsx';
import classes from './documents-section.module.css';
import type { Upload } from './upload-queue.ts';
import type { Uploads } from './use-uploads.ts';

const TYPES = DOCUMENT_TYPES.map((value) => ({ value, label: DOCUMENT_LABELS[value] }));

/** Files that were chosen: what each of them is, how far it is sent, and why it was not. */
export function UploadList({ uploads: { uploads, queue } }: { readonly uploads: Uploads }) {
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
              onType={(type) => queue.setType(upload.key, type)}
              onRemove={() => queue.remove(upload.key)}
            >
              {upload.state === 'failed' && !isSending && (
                <Button size="xs" variant="default" onClick={() => void queue.send([upload.key])}>
                  Try again
                </Button>
              )}
            </UploadRow>
          </li>
        ))}
      </ul>
      {waiting.length > 0 && (
        <Button w="fit-content" loading={isSending} onClick={() => void queue.send(waiting.map(({ key }) => key))}>
          {waiting.length === 1 ? 'Upload the file' : `Upload ${waiting.length} files`}
        </Button>
      )}
    </Stack>
  );
}

interface RowProps {
  readonly upload: Upload;
  readonly onType: (type: DocumentType) => void;
  readonly onRemove: () => void;
  readonly children: React.ReactNode;
}

function UploadRow({ upload: { file, type, state, loaded, fault, replaces }, onType, onRemove, children }: RowProps) {
  const percent = file.size === 0 ? 0 : Math.min(100, Math.round((loaded / file.size) * 100));
  return (
    <Stack gap={4}>
      <Group gap="sm" justify="space-between">
        <Text size="sm" className={classes['name']}>
          {file.name}{' '}
          <Text span c="dimmed" size="xs">
            {fileSize(file.size)}
            {replaces !== undefined && ', takes the place of the one before'}
          </Text>
        </Text>
        <Group gap="xs" wrap="nowrap">
          <SearchSelect
            size="xs"
            aria-label={`What ${file.name} is`}
            data={TYPES}
            value={type}
            onChange={(value) => value !== null && onType(value as DocumentType)}
            allowDeselect={false}
            disabled={state === 'sending'}
          />
          {children}
          <CloseButton
            aria-label={state === 'sending' ? `Stop ${file.name}` : `Remove ${file.name}`}
            onClick={onRemove}
          />
        </Group>
      </Group>
      {state === 'sending' && (
        <Group gap="xs" wrap="nowrap">
          <Progress value={percent} flex={1} aria-label={`How much of ${file.name} is sent`} />
          <Text size="xs" c="dimmed">
            {percent < 100 ? `${percent} %` : 'Being checked'}
          </Text>
        </Group>
      )}
      {fault !== undefined && (
        <Text size="xs" className="late" role="alert">
          {fault}
        </Text>
      )}
    </Stack>
  );
}
