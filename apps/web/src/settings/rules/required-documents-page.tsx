import { Button, Group, Progress, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { WorkspaceSettings } from '@tracking/client';
import { type FormEvent, useState } from 'react';
import { PageHeader, QueryResultPanel } from '../../app/page.tsx';
import { PagePermissionGate } from '../../session/permissions.tsx';
import { useEnvironment } from '../../session/session.ts';
import { DOCUMENT_TYPE_LABELS, DOCUMENT_TYPES } from '../../shipment/labels.ts';
import { documentStorageQuery } from '../../shipment/documents/documents.ts';
import { TRANSPORT_MODE_LABELS, type Mode } from '../../values/codes.ts';
import { formatFileSize } from '../../values/files.ts';
import { SearchMultiSelect } from '../../values/search-select.tsx';
import { type RequiredTypes, listModesWithChangedDocuments, buildRequiredDocumentsPatch } from './rule-changes.ts';
import {
  LastSettingsChangeNote,
  SaveErrorAlert,
  SettingsConflictPanel,
  settingsQuery,
  useSettingsWrite,
} from './settings-change.tsx';

/** Page of the documents that every shipment of a mode requires. */
export function RequiredDocumentsPage() {
  return (
    <PagePermissionGate permission="workspace:admin">
      <RequiredDocumentsSettingsPanel />
    </PagePermissionGate>
  );
}

function RequiredDocumentsSettingsPanel() {
  const settings = useQuery(settingsQuery(useEnvironment()));
  return (
    <Stack maw={720}>
      <PageHeader
        title="Required documents"
        about="Documents that each shipment needs, by mode. If one is missing shortly before arrival, a “Missing document” exception opens."
      />
      <QueryResultPanel query={settings} what="the settings">
        {(known) => (
          <>
            <LastSettingsChangeNote settings={known} />
            <RequiredDocumentsForm settings={known} />
          </>
        )}
      </QueryResultPanel>
      <DocumentStorageSection />
    </Stack>
  );
}

/** The bytes that the documents of the workspace use, and its quota. */
function DocumentStorageSection() {
  const storage = useQuery(documentStorageQuery(useEnvironment()));
  return (
    <Stack component="section" aria-labelledby="storage" gap="xs" mt="lg">
      <Title order={2} size="h4" id="storage">
        Document storage
      </Title>
      <QueryResultPanel query={storage} what="the storage">
        {({ used_bytes, limit_bytes }) => (
          <>
            <Progress
              value={limit_bytes === 0 ? 100 : Math.min(100, (used_bytes / limit_bytes) * 100)}
              size="lg"
              aria-label="Used document storage"
            />
            <Text size="sm">
              {`${formatFileSize(used_bytes)} of ${formatFileSize(limit_bytes)} used by documents of this workspace, live and test.`}
            </Text>
          </>
        )}
      </QueryResultPanel>
    </Stack>
  );
}

const TRANSPORT_MODES = Object.keys(TRANSPORT_MODE_LABELS) as readonly Mode[];
const DOCUMENT_TYPE_OPTIONS = DOCUMENT_TYPES.map((value) => ({ value, label: DOCUMENT_TYPE_LABELS[value] }));

function RequiredDocumentsForm({ settings }: { readonly settings: WorkspaceSettings }) {
  /** Settings that the form was based on when the user began to edit it. */
  const [known, setKnown] = useState(settings);
  const [required, setRequired] = useState<RequiredTypes>(settings.required_documents);
  const begin = (now: WorkspaceSettings) => {
    setKnown(now);
    setRequired(now.required_documents);
  };
  const write = useSettingsWrite(known, 'Required documents saved.', begin);
  const isChanged = listModesWithChangedDocuments(known.required_documents, required).length > 0;
  // Until the user changes the form, it follows the changes of other users.
  if (!isChanged && settings.version > known.version) begin(settings);

  const save = (over: WorkspaceSettings) => {
    const patch = buildRequiredDocumentsPatch(over.required_documents, required, over.defaults.required_documents);
    if (patch === undefined) begin(over);
    else write.save({ required_documents: patch }, over);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save(known);
  };
  const { concurrentSettings } = write;
  if (concurrentSettings !== undefined && concurrentSettings.version > known.version)
    return (
      <SettingsConflictPanel
        concurrentSettings={concurrentSettings}
        of="Mode"
        differences={listModesWithChangedDocuments(known.required_documents, concurrentSettings.required_documents).map(
          (mode) => ({
            name: TRANSPORT_MODE_LABELS[mode],
            theirs: joinDocumentTypeLabels(concurrentSettings.required_documents[mode]),
            mine: joinDocumentTypeLabels(required[mode]),
          }),
        )}
        unrelatedNote="The other change affects only exception rules. The required documents are unchanged."
        isPending={write.isPending}
        error={write.error}
        onKeepMine={() => save(concurrentSettings)}
        onKeepTheirs={() => {
          write.forgetError();
          begin(concurrentSettings);
        }}
      />
    );
  return (
    <form onSubmit={submit}>
      <Stack>
        <SaveErrorAlert error={write.error} />
        {TRANSPORT_MODES.map((mode) => (
          <SearchMultiSelect
            key={mode}
            label={TRANSPORT_MODE_LABELS[mode]}
            description={`Default: ${joinDocumentTypeLabels(known.defaults.required_documents[mode])}`}
            placeholder={(required[mode] ?? []).length === 0 ? 'None' : ''}
            data={DOCUMENT_TYPE_OPTIONS}
            value={[...(required[mode] ?? [])]}
            onChange={(types) => setRequired({ ...required, [mode]: types as RequiredTypes[Mode] })}
            clearable
          />
        ))}
        <Group justify="space-between">
          <Button
            variant="subtle"
            color="red"
            disabled={listModesWithChangedDocuments(required, known.defaults.required_documents).length === 0}
            onClick={() => setRequired(known.defaults.required_documents)}
          >
            Reset to default
          </Button>
          <Group gap="xs">
            <Button variant="default" disabled={!isChanged} onClick={() => setRequired(known.required_documents)}>
              Undo changes
            </Button>
            <Button type="submit" disabled={!isChanged} loading={write.isPending}>
              Save
            </Button>
          </Group>
        </Group>
      </Stack>
    </form>
  );
}

function joinDocumentTypeLabels(types: RequiredTypes[string] | undefined): string {
  return types === undefined || types.length === 0
    ? 'none'
    : types.map((type) => DOCUMENT_TYPE_LABELS[type]).join(', ');
}
