import '@mantine/dropzone/styles.css';
import { Alert, Anchor, List, Stack, Text, Title } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { IconFileTypeCsv } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { createOnDemandComponent } from '../../app/lazy.tsx';
import { PageHeader } from '../../app/page.tsx';
import { createRandomId, useApiWrite } from '../../app/write.ts';
import { getSessionOwnerKey, useEnvironment, useSession } from '../../session/session.ts';
import { downloadCsvText, createCsvText } from '../../values/files.ts';
import { ContentForShipmentEditors } from '../form/form-parts.tsx';
import type { RowCheckResult } from './check-rows.ts';
import classes from './import-page.module.css';
import { ImportProgressPanel, startImportRun } from './import-progress.tsx';
import { importStore, splitImportIntoBatches } from './import-store.ts';
import { MAX_FILE_BYTES, MAX_IMPORT_FILE_ROWS, type ImportFileContent, parseCsvSheet } from './read-file.ts';

const LazySheetReview = createOnDemandComponent(async () => (await import('./check-sheet.tsx')).SheetReview);

export function ImportPage() {
  return (
    <Stack>
      <Anchor component={Link} to="/shipments" size="sm" w="fit-content">
        Shipments
      </Anchor>
      <PageHeader title="Import shipments" about="Import a CSV file. You review the result before anything is sent." />
      <ContentForShipmentEditors>
        <ImportList />
      </ContentForShipmentEditors>
    </Stack>
  );
}

function ImportList() {
  const [environment, queries, session] = [useEnvironment(), useQueryClient(), useSession()];
  const [sheet, setSheet] = useState<ImportFileContent>();
  const owner = getSessionOwnerKey(session);
  const queryKey = ['imports', environment, owner];
  const kept = useQuery({
    queryKey,
    queryFn: () => importStore.listImportsOfUser(owner, environment),
    // The query also runs without a network connection, because imports are stored in this browser.
    networkMode: 'always',
  });
  const reload = () => void queries.invalidateQueries({ queryKey });
  const start = async (read: ImportFileContent, checked: RowCheckResult) => {
    const whose = { id: createRandomId(), owner, environment, startedAt: new Date().toISOString() };
    const { record, batches } = splitImportIntoBatches(read, checked, whose);
    await importStore.storeImportWithBatches(record, batches);
    startImportRun(record, environment);
    setSheet(undefined);
    reload();
  };
  if (sheet !== undefined)
    return (
      <LazySheetReview sheet={sheet} onBack={() => setSheet(undefined)} onStart={(checked) => start(sheet, checked)} />
    );
  return (
    <Stack className={classes['narrow']}>
      {kept.isError && (
        <Alert color="yellow" title="Browser storage is not available">
          Imports need browser storage to continue after a tab is closed. Allow storage for this page, or leave private
          mode.
        </Alert>
      )}
      {kept.data?.map((record) => (
        <ImportProgressPanel key={record.id} record={record} onRemoved={reload} />
      ))}
      {kept.data !== undefined && kept.data.length > 0 && (
        <Title order={2} size="h5">
          Import another file
        </Title>
      )}
      <CsvFileField onSheet={setSheet} />
    </Stack>
  );
}

const EXAMPLE_IMPORT_FILE = {
  headers: ['Reference', 'Mode', 'Origin', 'Destination', 'ETD', 'ETA', 'Containers', 'Carrier', 'Vessel', 'Consignee'],
  rows: [
    [
      'PO-1001',
      'ocean',
      'CNSHA',
      'NLRTM',
      '2027-03-01 10:30',
      '2027-04-01',
      'CSQU3054383',
      'MAEU',
      'Maersk Honam',
      'Acme',
    ],
  ],
};

async function downloadImportExample(): Promise<void> {
  downloadCsvText('shipments-example.csv', await createCsvText(EXAMPLE_IMPORT_FILE.headers, EXAMPLE_IMPORT_FILE.rows));
}

/** Form field to choose or drop a CSV file. */
function CsvFileField({ onSheet }: { readonly onSheet: (sheet: ImportFileContent) => void }) {
  const [problem, setProblem] = useState<string>();
  const example = useApiWrite({ write: downloadImportExample });
  const read = useMutation({
    mutationFn: async (file: File) => parseCsvSheet(file.name, new Uint8Array(await file.arrayBuffer())),
    // The mutation also runs without a network connection, because the file is local.
    networkMode: 'always',
  });
  const choose = (file: File) => {
    setProblem(undefined);
    // If the user chooses another file while the first is being read, the callbacks run only for the last file.
    read.mutate(file, {
      onSuccess: onSheet,
      onError: (error) => setProblem(error.message),
    });
  };
  return (
    <Stack>
      {problem !== undefined && (
        <Alert color="red" role="alert" title="This file cannot be imported">
          {problem}
        </Alert>
      )}
      <Dropzone
        onDrop={([file]) => file !== undefined && choose(file)}
        onReject={() => setProblem(`Choose one CSV file of at most ${MAX_FILE_BYTES / 1024 / 1024} MB.`)}
        multiple={false}
        maxSize={MAX_FILE_BYTES}
        inputProps={{ 'aria-label': 'CSV file' }}
        aria-label="Choose a CSV file"
      >
        <Stack align="center" gap={4} p="xl">
          <IconFileTypeCsv size={40} aria-hidden />
          <Text fw={600}>Drop a CSV file here, or click to choose one</Text>
          <Text size="sm" c="dimmed">
            {`Up to ${MAX_IMPORT_FILE_ROWS.toLocaleString()} rows. The first line must contain the column names.`}
          </Text>
        </Stack>
      </Dropzone>
      <List size="sm">
        <List.Item>
          Each row needs your reference. If a shipment with this reference exists, the row updates the shipment.
        </List.Item>
        <List.Item>Rows with the same reference become one shipment with several containers.</List.Item>
        <List.Item>Empty cells do not change existing values.</List.Item>
      </List>
      <Anchor component="button" size="sm" w="fit-content" onClick={() => example.mutate()}>
        Download an example file
      </Anchor>
    </Stack>
  );
}
