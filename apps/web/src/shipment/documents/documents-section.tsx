import { Alert, Anchor, Badge, Button, Group, Paper, Stack, Switch, Text, Title } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconClock, IconUpload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { DocumentType, ShipmentDocument } from '@tracking/client';
import { useState } from 'react';
import { createOnDemandComponent } from '../../app/lazy.tsx';
import { confirmAction } from '../../app/overlays.tsx';
import { QueryResultPanel } from '../../app/page.tsx';
import { useEnvironment, useHasPermission } from '../../session/session.ts';
import { toReadableLabel } from '../history/value-labels.ts';
import { DOCUMENT_TYPE_LABELS } from '../labels.ts';
import type { VersionedResource } from '../concurrent-changes/guarded-write.ts';
import { useShipmentOfPage } from '../shipment-queries.ts';
import { type DocumentRowCallbacks, DocumentRow, DocumentReviewButtons } from './document-row.tsx';
import classes from './documents-section.module.css';
import {
  DOCUMENT_CONFLICT_FIELDS,
  type Fulfilment,
  listStatesOfRequiredDocuments,
  documentsQuery,
  isContentMissing,
  requiredDocumentsQuery,
  useDocumentReviewMutation,
  groupDocumentVersions,
} from './documents.ts';
import type { DropZoneHandle } from './drop-zone.tsx';

const LazyDropZone = createOnDemandComponent(async () => (await import('./drop-zone.tsx')).DropZone);

const LazyRejectDialog = createOnDemandComponent(
  async () => (await import('./reject-dialog.tsx')).RejectDialog,
  ({ document }) => document !== undefined,
);

const LazyPreviewDialog = createOnDemandComponent(
  async () => (await import('./preview-dialog.tsx')).PreviewDialog,
  ({ document }) => document !== undefined,
);

const LazyConflictDialog = createOnDemandComponent(
  async () => (await import('../concurrent-changes/conflict-dialog.tsx')).ConflictDialog<ShipmentDocument>,
  ({ conflict }) => conflict !== undefined,
);

export function DocumentsSection() {
  const { id } = useShipmentOfPage();
  const documents = useQuery({
    ...documentsQuery(useEnvironment(), id),
    enabled: useHasPermission('documents:read'),
  });
  if (!useHasPermission('documents:read')) {
    return <Alert title="You cannot view documents">Your role does not include the permission documents:read.</Alert>;
  }
  return (
    <QueryResultPanel query={documents} what="the documents">
      {(seen) => <DocumentList key={id} seen={seen} />}
    </QueryResultPanel>
  );
}

function DocumentList({ seen }: { readonly seen: VersionedResource<readonly ShipmentDocument[]> }) {
  const { thing: all, version } = seen;
  const [mayWrite, mayApprove] = [useHasPermission('documents:write'), useHasPermission('documents:approve')];
  const [zone, setZone] = useState<DropZoneHandle | null>(null);
  const [showsGone, setShowsGone] = useState(false);
  const [rejected, setRejected] = useState<VersionedResource<ShipmentDocument>>();
  const [opened, open] = useOpenedDocument(all);
  const review = useDocumentReviewMutation(() => setRejected(undefined));
  const askDelete = (document: ShipmentDocument) =>
    confirmAction({
      title: `Delete “${document.file_name}”?`,
      children: (
        <Text size="sm">
          The file is deleted permanently. The history still shows the document. This cannot be undone.
        </Text>
      ),
      labels: { confirm: 'Delete file', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => review.run({ thing: document, version }, { kind: 'delete' }),
    });
  const actions: DocumentRowCallbacks = {
    onOpen: ({ id }) => open(id),
    onApprove: (thing) => review.run({ thing, version }, { kind: 'approve' }),
    onReject: (thing) => setRejected({ thing, version }),
    onReplace: ({ id, type }) => zone?.choose({ replaces: id, type }),
    onDelete: askDelete,
  };
  const versions = groupDocumentVersions(all);
  const shown = versions.filter(({ current, earlier }) => showsGone || ![current, ...earlier].every(isContentMissing));
  return (
    <Stack>
      <RequiredDocumentsCard
        documents={all}
        onOpen={open}
        onChoose={zone === null ? undefined : (type) => zone.choose({ type })}
      />
      {mayWrite ? (
        <div className={classes['zone']}>
          <LazyDropZone ref={setZone} />
        </div>
      ) : (
        <ReadOnlyDocumentsNotice />
      )}
      {mayWrite && !mayApprove && (
        <Text size="sm" c="dimmed">
          You can upload documents. To review them, you need the permission documents:approve.
        </Text>
      )}
      {shown.length === 0 ? (
        <Text c="dimmed">No documents yet</Text>
      ) : (
        <ul className={classes['documents']} aria-label="Documents">
          {shown.map((one) => (
            <DocumentRow key={one.current.id} versions={one} actions={actions} />
          ))}
        </ul>
      )}
      {all.some(isContentMissing) && (
        <Switch
          label="Show deleted and expired documents"
          checked={showsGone}
          onChange={(event) => setShowsGone(event.currentTarget.checked)}
        />
      )}
      <LazyPreviewDialog
        document={opened}
        onClose={() => open(undefined)}
        actions={opened !== undefined && <DocumentReviewButtons document={opened} actions={actions} />}
      />
      <LazyRejectDialog
        document={rejected?.thing}
        isPending={review.isPending}
        onReject={(reason) => rejected !== undefined && review.run(rejected, { kind: 'reject', reason })}
        onClose={() => setRejected(undefined)}
      />
      <LazyConflictDialog conflict={review.conflict} what="the document" fields={DOCUMENT_CONFLICT_FIELDS} />
    </Stack>
  );
}

function ReadOnlyDocumentsNotice() {
  return (
    <Text size="sm" c="dimmed">
      You can view documents. To upload or review them, you need the permissions documents:write and documents:approve.
    </Text>
  );
}

/**
 * Returns the opened document and a function that opens another document. The page URL contains the id of the opened
 * document.
 */
function useOpenedDocument(all: readonly ShipmentDocument[]) {
  const { document: id } = useSearch({ from: '/signed-in/shipments/$id/documents' });
  const navigate = useNavigate({ from: '/shipments/$id/documents' });
  const open = (document: string | undefined) =>
    void navigate({ search: (search) => ({ ...search, document }), resetScroll: false });
  const opened = all.find((document) => document.id === id && document.download_url !== null);
  return [opened, open] as const;
}

const DOCUMENT_REQUIREMENT_BADGES = {
  approved: { label: 'Approved', color: 'green', icon: IconCircleCheck },
  uploaded: { label: 'Awaiting review', color: 'blue', icon: IconClock },
  rejected: { label: 'Rejected', color: 'red', icon: IconAlertTriangle },
  missing: { label: 'Missing', color: 'orange', icon: IconAlertTriangle },
} as const satisfies Record<Fulfilment, object>;

interface RequiredDocumentsProps {
  readonly documents: readonly ShipmentDocument[];
  readonly onOpen: (id: string) => void;
  /** Opens the file chooser for a document of the given type. Undefined if the user may not upload documents. */
  readonly onChoose: ((type: DocumentType) => void) | undefined;
}

/** Shows the documents that the workspace requires for the shipment's mode, with their review status. */
function RequiredDocumentsCard({ documents, onOpen, onChoose }: RequiredDocumentsProps) {
  const { mode } = useShipmentOfPage();
  const required = useQuery(requiredDocumentsQuery(useEnvironment()));
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="required-documents">
      <Title order={2} size="h5" id="required-documents" mb="xs">
        Required documents
      </Title>
      {mode === null ? (
        <Text size="sm" c="dimmed">
          Required documents depend on the mode. This shipment has no mode yet.
        </Text>
      ) : (
        <QueryResultPanel query={required} what="the required documents">
          {(byMode) => {
            const items = listStatesOfRequiredDocuments(byMode[mode] ?? [], documents);
            if (items.length === 0) return <NoRequiredDocumentsMessage mode={mode} />;
            const present = items.filter(({ state }) => state !== 'missing').length;
            return (
              <Stack gap="xs">
                <Text size="sm" c="dimmed">
                  {`${toReadableLabel(mode)} shipments require these documents. ${present} of ${items.length} are uploaded.`}
                </Text>
                <ul className={classes['checklist']}>
                  {items.map(({ type, state, document }) => {
                    const { label, color, icon: Icon } = DOCUMENT_REQUIREMENT_BADGES[state];
                    return (
                      <li key={type}>
                        <Group gap="xs" wrap="nowrap">
                          <Icon size={18} aria-hidden />
                          {document === undefined ? (
                            <Text size="sm">{DOCUMENT_TYPE_LABELS[type]}</Text>
                          ) : (
                            <Anchor component="button" type="button" size="sm" onClick={() => onOpen(document.id)}>
                              {DOCUMENT_TYPE_LABELS[type]}
                            </Anchor>
                          )}
                        </Group>
                        <Badge color={color} variant="light" tt="none" autoContrast>
                          {label}
                        </Badge>
                        {state === 'missing' && onChoose !== undefined && (
                          <Button
                            size="compact-xs"
                            variant="default"
                            leftSection={<IconUpload size={14} aria-hidden />}
                            aria-label={`Choose file for ${DOCUMENT_TYPE_LABELS[type]}`}
                            onClick={() => onChoose(type)}
                          >
                            Choose file
                          </Button>
                        )}
                      </li>
                    );
                  })}
                </ul>
              </Stack>
            );
          }}
        </QueryResultPanel>
      )}
    </Paper>
  );
}

function NoRequiredDocumentsMessage({ mode }: { readonly mode: string }) {
  return (
    <Text size="sm" c="dimmed">
      {`No documents are required for ${mode} shipments. Administrators can change this in the settings.`}
    </Text>
  );
}
