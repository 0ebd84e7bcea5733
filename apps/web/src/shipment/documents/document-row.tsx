import { Anchor, Badge, Button, Collapse, Group, Menu, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { ShipmentDocument } from '@tracking/client';
import { useState } from 'react';
import { RowMenu } from '../../app/row-menu.tsx';
import { useApiWrite } from '../../app/write.ts';
import { useEnvironment, useHasPermission } from '../../session/session.ts';
import { saveFileFromBrowser, formatFileSize } from '../../values/files.ts';
import { UserLocalTimeText } from '../../values/time.tsx';
import { useActorNameLookup } from '../history/history-sentences.ts';
import {
  CONTENT_TYPE_LABELS,
  DOCUMENT_TYPE_LABELS,
  DOCUMENT_STATUS_COLORS,
  DOCUMENT_STATUS_LABELS,
} from '../labels.ts';
import { useShipmentOfPage } from '../shipment-queries.ts';
import classes from './documents-section.module.css';
import { type DocumentWithEarlierVersions, documentContentQuery, isContentMissing } from './documents.ts';

export interface DocumentRowCallbacks {
  readonly onOpen: (document: ShipmentDocument) => void;
  readonly onApprove: (document: ShipmentDocument) => void;
  readonly onReject: (document: ShipmentDocument) => void;
  readonly onReplace: (document: ShipmentDocument) => void;
  readonly onDelete: (document: ShipmentDocument) => void;
}

/** Row of a document, with its actions and its earlier versions. */
export function DocumentRow({
  versions,
  actions,
}: {
  readonly versions: DocumentWithEarlierVersions;
  readonly actions: DocumentRowCallbacks;
}) {
  const [showsEarlier, setShowsEarlier] = useState(false);
  const { current, earlier } = versions;
  return (
    <li className={classes['document']}>
      <DocumentPropertiesPanel document={current} actions={actions}>
        <DocumentReviewButtons document={current} actions={actions} />
      </DocumentPropertiesPanel>
      {earlier.length > 0 && (
        <Button
          size="compact-xs"
          variant="subtle"
          w="fit-content"
          aria-expanded={showsEarlier}
          onClick={() => setShowsEarlier(!showsEarlier)}
        >
          {earlier.length === 1 ? '1 earlier version' : `${earlier.length} earlier versions`}
        </Button>
      )}
      <Collapse expanded={showsEarlier}>
        <ul className={classes['earlier']} aria-label={`Earlier versions of ${current.file_name}`}>
          {earlier.map((document) => (
            <li key={document.id}>
              <DocumentPropertiesPanel document={document} actions={actions} />
            </li>
          ))}
        </ul>
      </Collapse>
    </li>
  );
}

interface DocumentFactsProps {
  readonly document: ShipmentDocument;
  readonly actions: DocumentRowCallbacks;
  readonly children?: React.ReactNode;
}

function DocumentPropertiesPanel({ document, actions, children }: DocumentFactsProps) {
  const nameOf = useActorNameLookup(useShipmentOfPage().id);
  const { file_name, type, status, size_bytes, content_type, uploaded_by, reviewed_by, reviewed_at } = document;
  const canOpen = document.download_url !== null;
  return (
    <div className={classes['facts']}>
      <Stack gap={2} className={classes['name']}>
        <Group gap="xs">
          <Text size="sm" fw={600}>
            {DOCUMENT_TYPE_LABELS[type]}
          </Text>
          <Badge color={DOCUMENT_STATUS_COLORS[status]} variant="light" tt="none" autoContrast>
            {DOCUMENT_STATUS_LABELS[status]}
          </Badge>
        </Group>
        {canOpen ? (
          <Anchor component="button" type="button" size="sm" ta="left" onClick={() => actions.onOpen(document)}>
            {file_name}
          </Anchor>
        ) : (
          <Text size="sm">{file_name}</Text>
        )}
        <Text size="xs" c="dimmed">
          {`${CONTENT_TYPE_LABELS[content_type]}, ${formatFileSize(size_bytes)}. Uploaded by ${nameOf(uploaded_by)}, `}
          <UserLocalTimeText value={document.uploaded_at ?? document.created_at} />.
          {reviewed_by !== null && reviewed_at !== null && (
            <>
              {' '}
              {`${document.rejection_reason === null ? 'Approved' : 'Rejected'} by ${nameOf(reviewed_by)}, `}
              <UserLocalTimeText value={reviewed_at} />.
            </>
          )}
        </Text>
        {document.rejection_reason !== null && <Text size="sm">“{document.rejection_reason}”</Text>}
      </Stack>
      <Group gap="xs" wrap="nowrap">
        {children}
        <DocumentMenu document={document} actions={actions} />
      </Group>
    </div>
  );
}

interface ReviewButtonsProps {
  readonly document: ShipmentDocument;
  readonly actions: Pick<DocumentRowCallbacks, 'onApprove' | 'onReject'>;
}

export function DocumentReviewButtons({ document, actions }: ReviewButtonsProps) {
  if (!useHasPermission('documents:approve') || document.status !== 'uploaded') return null;
  return (
    <>
      <Button
        size="xs"
        variant="default"
        aria-label={`Approve ${document.file_name}`}
        onClick={() => actions.onApprove(document)}
      >
        Approve
      </Button>
      <Button
        size="xs"
        variant="default"
        aria-label={`Reject ${document.file_name}…`}
        onClick={() => actions.onReject(document)}
      >
        Reject…
      </Button>
    </>
  );
}

/** Menu with the less frequent actions on a document. Actions that the user may not perform are hidden. */
function DocumentMenu({
  document,
  actions,
}: {
  readonly document: ShipmentDocument;
  readonly actions: DocumentRowCallbacks;
}) {
  const [queries, environment] = [useQueryClient(), useEnvironment()];
  const [mayWrite, mayApprove] = [useHasPermission('documents:write'), useHasPermission('documents:approve')];
  const { id, status, file_name, download_url, replaced_by_document_id } = document;
  const download = useApiWrite({
    write: async () => saveFileFromBrowser(await queries.fetchQuery(documentContentQuery(environment, id))),
  });
  const canReplace =
    mayWrite && !isContentMissing(document) && status !== 'pending_upload' && replaced_by_document_id === null;
  const canDelete = mayApprove && status !== 'deleted';
  if (download_url === null && !canReplace && !canDelete) return null;
  return (
    <RowMenu of={file_name}>
      {download_url !== null && <Menu.Item onClick={() => download.mutate()}>Download</Menu.Item>}
      {canReplace && <Menu.Item onClick={() => actions.onReplace(document)}>Replace…</Menu.Item>}
      {canDelete && (
        <Menu.Item color="red" onClick={() => actions.onDelete(document)}>
          Delete…
        </Menu.Item>
      )}
    </RowMenu>
  );
}
