import { Group, Stack, Text } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import '@mantine/dropzone/styles.css';
import { IconUpload } from '@tabler/icons-react';
import { useBlocker } from '@tanstack/react-router';
import type { DocumentType } from '@tracking/client';
import { type Ref, useImperativeHandle, useRef } from 'react';
import { UploadList } from './upload-list.tsx';
import { useUploads } from './use-uploads.ts';

interface About {
  readonly type?: DocumentType;
  readonly replaces?: string;
}

export interface DropZoneHandle {
  /** Has the person choose one file, which is to be so. */
  readonly choose: (about: About) => void;
}

/** Where files are dropped or chosen, and how far they are. */
export function DropZone({ ref }: { readonly ref: Ref<DropZoneHandle> }) {
  const uploads = useUploads();
  const openFiles = useRef<() => void>(null);
  const about = useRef<About>({});
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
    // Opening or closing a preview only changes the search parameters of the section.
    shouldBlockFn: ({ current, next }) =>
      current.pathname !== next.pathname && !globalThis.confirm('Files are being uploaded. Leave, and stop them?'),
    enableBeforeUnload: true,
    disabled: !uploads.uploads.some(({ state }) => state === 'sending'),
  });
  const choose = (files: readonly File[]) => {
    const of = about.current;
    about.current = {};
    // What is told of one file holds for one.
    uploads.choose(files, files.length === 1 ? of : {});
  };
  return (
    <Stack gap="xs">
      <Dropzone
        openRef={openFiles}
        onDrop={choose}
        onFileDialogCancel={() => (about.current = {})}
        p="sm"
        inputProps={{ 'aria-label': 'Files of documents' }}
        aria-label="Drop files here, or choose them"
      >
        <Group gap="sm" wrap="nowrap">
          <IconUpload size={22} aria-hidden />
          <div>
            <Text size="sm">Drop files here, or click to choose them</Text>
            <Text size="xs" c="dimmed">
              PDF, pictures, Word, Excel, CSV, text and XML, up to 250 MiB each
            </Text>
          </div>
        </Group>
      </Dropzone>
      <UploadList uploads={uploads} />
    </Stack>
  );
}
