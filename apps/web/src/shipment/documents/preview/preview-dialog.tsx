import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconDownload } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ShipmentDocument } from '@tracking/client';
import { Suspense } from 'react';
import { DOCUMENT_LABELS } from '../../../documents/document-labels.ts';
import { Waiting } from '../../../app/page.tsx';
import { useWrite } from '../../../app/write.ts';
import { useEnvironment } from '../../../session/session.ts';
import { fileSize, save } from '../../../values/files.ts';
import { Picture } from './picture.tsx';
import { PlainText } from './plain-text.tsx';
import { contentQuery, previewKind } from './preview-queries.ts';
import { late } from '../../../app/lazy.tsx';

/** Large, and seldom needed: loaded where it is shown. */
const Pdf = late(async () => ({ default: (await import('./pdf.tsx')).Pdf }));

/** Files of more are saved, not shown: a page that holds them becomes slow. */
const MOST_BYTES = 50 * 2 ** 20;

interface Props {
  readonly document: ShipmentDocument | undefined;
  readonly onClose: () => void;
  /** What can be done with it, beside saving it. */
  readonly actions?: React.ReactNode;
}

export function PreviewDialog({ document, onClose, actions }: Props) {
  const isNarrow = useMediaQuery('(max-width: 800px)');
  return (
    <Modal
      opened={document !== undefined}
      onClose={onClose}
      size="xl"
      fullScreen={isNarrow}
      title={document === undefined ? '' : `${DOCUMENT_LABELS[document.type]}: ${document.file_name}`}
    >
      {document !== undefined && <Preview document={document} actions={actions} />}
    </Modal>
  );
}

function Preview({ document, actions }: { readonly document: ShipmentDocument; readonly actions: React.ReactNode }) {
  const kind = previewKind(document);
  const isShown = kind !== undefined && document.size_bytes <= MOST_BYTES;
  const [queries, query] = [useQueryClient(), contentQuery(useEnvironment(), document.id)];
  const content = useQuery({ ...query, enabled: isShown });
  const name = document.file_name;
  const download = useWrite({
    write: async () => save(content.data ?? (await queries.fetchQuery(query)), name),
  });
  return (
    <Stack>
      {!isShown && (
        <Text size="sm">
          {kind === undefined
            ? 'Browsers cannot show files of this kind.'
            : `It is large: ${fileSize(document.size_bytes)}.`}{' '}
          Download it to look.
        </Text>
      )}
      {isShown && (
        <Waiting query={content} what="the preview">
          {(blob) => (
            <Suspense>
              {kind === 'picture' && <Picture blob={blob} name={name} />}
              {kind === 'text' && <PlainText blob={blob} name={name} />}
              {kind === 'pdf' && <Pdf blob={blob} name={name} />}
            </Suspense>
          )}
        </Waiting>
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
