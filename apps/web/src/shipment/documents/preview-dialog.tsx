import { Alert, Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconDownload } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ShipmentDocument } from '@tracking/client';
import { Suspense, useEffect, useRef, useState } from 'react';
import { createLazyComponentWithImportRetry } from '../../app/lazy.tsx';
import { QueryResultPanel } from '../../app/page.tsx';
import { useApiWrite } from '../../app/write.ts';
import { useEnvironment } from '../../session/session.ts';
import { saveFileFromBrowser, formatFileSize } from '../../values/files.ts';
import { DOCUMENT_TYPE_LABELS } from '../labels.ts';
import { decodeTextFile, documentContentQuery, getPreviewKind } from './documents.ts';
import classes from './preview.module.css';

/** The code of the PDF viewer is loaded on demand, because the viewer is large and rarely needed. */
const LazyPdfPreview = createLazyComponentWithImportRetry(async () => ({
  default: (await import('./pdf.tsx')).PdfPreview,
}));

/** Maximum size of a file with a preview, in bytes. A larger file would slow down the page. */
const MAX_PREVIEW_BYTES = 50 * 2 ** 20;

interface PreviewDialogProps {
  readonly document: ShipmentDocument | undefined;
  readonly onClose: () => void;
  /** Buttons that the preview shows next to its Download button. */
  readonly actions?: React.ReactNode;
}

export function PreviewDialog({ document, onClose, actions }: PreviewDialogProps) {
  const isNarrow = useMediaQuery('(max-width: 800px)');
  return (
    <Modal
      opened={document !== undefined}
      onClose={onClose}
      size="xl"
      fullScreen={isNarrow}
      title={document === undefined ? '' : `${DOCUMENT_TYPE_LABELS[document.type]}: ${document.file_name}`}
    >
      {document !== undefined && <DocumentPreview document={document} actions={actions} />}
    </Modal>
  );
}

function DocumentPreview({
  document,
  actions,
}: {
  readonly document: ShipmentDocument;
  readonly actions: React.ReactNode;
}) {
  const kind = getPreviewKind(document);
  const isShown = kind !== undefined && document.size_bytes <= MAX_PREVIEW_BYTES;
  const [queries, query] = [useQueryClient(), documentContentQuery(useEnvironment(), document.id)];
  const content = useQuery({ ...query, enabled: isShown });
  const name = document.file_name;
  const download = useApiWrite({
    write: async () => saveFileFromBrowser(content.data ?? (await queries.fetchQuery(query))),
  });
  return (
    <Stack>
      {!isShown && (
        <Text size="sm">
          {kind === undefined
            ? 'Browsers cannot display files of this type.'
            : `This file is too large to preview (${formatFileSize(document.size_bytes)}).`}{' '}
          Download the file to open it.
        </Text>
      )}
      {isShown && (
        <QueryResultPanel query={content} what="the preview">
          {(blob) => (
            <Suspense>
              {kind === 'picture' && <ImagePreview blob={blob} name={name} />}
              {kind === 'text' && <TextPreview blob={blob} name={name} />}
              {kind === 'pdf' && <LazyPdfPreview blob={blob} name={name} />}
            </Suspense>
          )}
        </QueryResultPanel>
      )}
      <Group justify="end">
        <Button
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          loading={download.isPending}
          onClick={() => download.mutate()}
        >
          Download
        </Button>
        {actions}
      </Group>
    </Stack>
  );
}

function ImagePreview({ blob, name }: { readonly blob: Blob; readonly name: string }) {
  const picture = useRef<HTMLImageElement>(null);
  const [isBroken, setIsBroken] = useState(false);
  useEffect(() => {
    const url = URL.createObjectURL(blob);
    if (picture.current !== null) picture.current.src = url;
    return () => URL.revokeObjectURL(url);
  }, [blob]);
  if (isBroken) {
    return <Alert color="yellow">This image is damaged, or this browser does not support its format.</Alert>;
  }
  return <img ref={picture} className={classes['picture']} alt={name} onError={() => setIsBroken(true)} />;
}

/** Maximum number of bytes that a text preview shows. A longer text would freeze the page. */
const MAX_TEXT_PREVIEW_BYTES = 200_000;

function TextPreview({ blob, name }: { readonly blob: Blob; readonly name: string }) {
  const [text, setText] = useState('');
  useEffect(() => {
    let isShown = true;
    void blob
      .slice(0, MAX_TEXT_PREVIEW_BYTES)
      .arrayBuffer()
      .then((bytes) => isShown && setText(decodeTextFile(bytes)));
    return () => {
      isShown = false;
    };
  }, [blob]);
  return (
    <>
      <Code block className={classes['text']} tabIndex={0} aria-label={name}>
        {text}
      </Code>
      {blob.size > MAX_TEXT_PREVIEW_BYTES && (
        <Text size="sm" c="dimmed">
          Only the beginning of the file is shown. Download it to read the rest.
        </Text>
      )}
    </>
  );
}
