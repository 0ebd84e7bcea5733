import { Alert, Stack, Switch, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ShipmentDocument } from '@tracking/client';
import { useState } from 'react';
import { askFirst } from '../../app/overlays.tsx';
import { onDemand } from '../../app/lazy.tsx';
import { Waiting } from '../../app/page.tsx';
import { useEnvironment, useMay } from '../../session/session.ts';
import { useShipment } from '../current-shipment.ts';
import type { Seen } from '../meanwhile/guarded.ts';
import { documentsQuery } from './document-queries.ts';
import { type DocumentActions, DocumentRow, Verdict } from './document-row.tsx';
import { isGone, versionsOf } from './document-versions.ts';
import classes from './documents-section.module.css';
import type { DropZoneHandle } from './drop-zone.tsx';
import { RequiredDocuments } from './required-documents.tsx';
import { DECIDED_BY, useReview } from './use-review.ts';

const DropZone = onDemand(async () => (await import('./drop-zone.tsx')).DropZone);

const RejectDialog = onDemand(
  async () => (await import('./reject-dialog.tsx')).RejectDialog,
  ({ document }) => document !== undefined,
);

const PreviewDialog = onDemand(
  async () => (await import('./preview/preview-dialog.tsx')).PreviewDialog,
  ({ document }) => document !== undefined,
);

const ConflictDialog = onDemand(
  async () => (await import('../meanwhile/conflict-dialog.tsx')).ConflictDialog,
  ({ conflict }) => conflict !== undefined,
);

export function DocumentsSection() {
  const { id } = useShipment();
  const documents = useQuery({
    ...documentsQuery(useEnvironment(), id),
    enabled: useMay('documents:read'),
  });
  if (!useMay('documents:read')) {
    return <Alert title="Documents are not shown to you">Your role does not include documents:read.</Alert>;
  }
  return (
    <Waiting query={documents} what="the documents">
      {(seen) => <Documents key={id} seen={seen} />}
    </Waiting>
  );
}

function Documents({ seen }: { readonly seen: Seen<readonly ShipmentDocument[]> }) {
  const { thing: all, version } = seen;
  const [mayWrite, mayApprove] = [useMay('documents:write'), useMay('documents:approve')];
  const [zone, setZone] = useState<DropZoneHandle | null>(null);
  const [showsGone, setShowsGone] = useState(false);
  const [rejected, setRejected] = useState<Seen<ShipmentDocument>>();
  const [opened, open] = useOpened(all);
  const review = useReview(() => setRejected(undefined));
  const askDelete = (document: ShipmentDocument) =>
    askFirst({
      title: `Delete “${document.file_name}”?`,
      children: (
        <Text size="sm">The file is destroyed. That it was there stays in the history. This cannot be undone.</Text>
      ),
      labels: { confirm: 'Delete', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => review.run({ thing: document, version }, { kind: 'delete' }),
    });
  const actions: DocumentActions = {
    onOpen: ({ id }) => open(id),
    onApprove: (thing) => review.run({ thing, version }, { kind: 'approve' }),
    onReject: (thing) => setRejected({ thing, version }),
    onReplace: ({ id, type }) => zone?.choose({ replaces: id, type }),
    onDelete: askDelete,
  };
  const versions = versionsOf(all);
  const shown = versions.filter(({ current, earlier }) => showsGone || ![current, ...earlier].every(isGone));
  return (
    <Stack>
      <RequiredDocuments
        documents={all}
        onOpen={open}
        onChoose={zone === null ? undefined : (type) => zone.choose({ type })}
      />
      {mayWrite ? (
        <div className={classes['zone']}>
          <DropZone ref={setZone} />
        </div>
      ) : (
        <MayOnlyLook />
      )}
      {mayWrite && !mayApprove && (
        <Text size="sm" c="dimmed">
          You may send documents; to review them your role does not include documents:approve.
        </Text>
      )}
      {shown.length === 0 ? (
        <Text c="dimmed">There are no documents yet.</Text>
      ) : (
        <ul className={classes['documents']} aria-label="Documents">
          {shown.map((one) => (
            <DocumentRow key={one.current.id} versions={one} actions={actions} />
          ))}
        </ul>
      )}
      {all.some(isGone) && (
        <Switch
          label="Deleted ones, and those whose file never came, too"
          checked={showsGone}
          onChange={(event) => setShowsGone(event.currentTarget.checked)}
        />
      )}
      <PreviewDialog
        document={opened}
        onClose={() => open(undefined)}
        actions={opened !== undefined && <Verdict document={opened} actions={actions} />}
      />
      <RejectDialog
        document={rejected?.thing}
        isPending={review.isPending}
        onReject={(reason) => rejected !== undefined && review.run(rejected, { kind: 'reject', reason })}
        onClose={() => setRejected(undefined)}
      />
      <ConflictDialog conflict={review.conflict} what="the document" fields={DECIDED_BY} />
    </Stack>
  );
}

function MayOnlyLook() {
  return (
    <Text size="sm" c="dimmed">
      You may look at documents. To send or review them your role does not include documents:write and
      documents:approve.
    </Text>
  );
}

/** The document that is looked at: it stands in the address. */
function useOpened(all: readonly ShipmentDocument[]) {
  const { document: id } = useSearch({ from: '/signed-in/shipments/$id/documents' });
  const navigate = useNavigate({ from: '/shipments/$id/documents' });
  const open = (document: string | undefined) =>
    void navigate({ search: (search) => ({ ...search, document }), resetScroll: false });
  const opened = all.find((document) => document.id === id && document.download_url !== null);
  return [opened, open] as const;
}
