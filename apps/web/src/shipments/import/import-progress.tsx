import { Alert, Badge, Button, Group, Paper, Progress, Stack, Table, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { useApiWrite } from '../../app/write.ts';
import { type Environment, getApiClient } from '../../session/api.ts';
import { getSessionOwnerKey, useEnvironment } from '../../session/session.ts';
import { downloadCsvText, createCsvText } from '../../values/files.ts';
import { UserLocalTimeText } from '../../values/time.tsx';
import type { ImportRowError } from './check-rows.ts';
import classes from './import-page.module.css';
import { ImportBatchSender, type Phase, type ImportRunState } from './import-run.ts';
import { type ImportRecord, importStore, buildInvalidRowsTable } from './import-store.ts';

const IMPORT_PHASE_BADGES: Readonly<Record<Phase, { readonly label: string; readonly color: string }>> = {
  running: { label: 'Importing', color: 'blue' },
  waiting: { label: 'Waiting', color: 'orange' },
  stopped: { label: 'Paused', color: 'orange' },
  done: { label: 'Finished', color: 'green' },
};
const subscribeToNoUpdates = () => () => undefined;

interface ImportProgressProps {
  readonly record: ImportRecord;
  /** Callback that runs after the user has removed the import from the list. */
  readonly onRemoved: () => void;
}

/** Shows the progress of an import, and its result at the end. */
export function ImportProgressPanel({ record: kept, onRemoved }: ImportProgressProps) {
  const queries = useQueryClient();
  // Import run in this browser tab. The Continue button starts a new run.
  const [run, setRun] = useState(() => findImportRun(kept.id));
  const still = useMemo<ImportRunState>(
    () => ({ record: kept, phase: kept.done === kept.batches ? 'done' : 'stopped' }),
    [kept],
  );
  const state = useSyncExternalStore(run?.subscribe ?? subscribeToNoUpdates, run?.state ?? (() => still));
  const { record, phase, why } = state;
  const isDone = phase === 'done';
  useEffect(() => {
    if (isDone) void queries.invalidateQueries({ queryKey: ['shipments'] });
  }, [isDone, queries]);
  const { name, startedAt, shipments, sent, created, changed, wrong } = record;
  return (
    <Paper withBorder p="md" component="section" aria-label={`Import of ${name}`}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Group gap="xs">
            <Title order={2} size="h5">
              {name}
            </Title>
            <Badge color={IMPORT_PHASE_BADGES[phase].color} variant="light" tt="none" autoContrast>
              {IMPORT_PHASE_BADGES[phase].label}
            </Badge>
          </Group>
          <Text size="sm" c="dimmed" component="div">
            <UserLocalTimeText value={startedAt} />
          </Text>
        </Group>
        <Progress
          value={shipments === 0 ? 100 : (sent / shipments) * 100}
          size="lg"
          aria-label={`Progress of ${name}`}
        />
        <Text size="sm" role="status">
          {`${sent.toLocaleString()} of ${shipments.toLocaleString()} shipments sent: ${created.toLocaleString()} created, ${changed.toLocaleString()} updated, ${wrong.length.toLocaleString()} rows skipped.`}
        </Text>
        {why !== undefined && !isDone && (
          <Alert color="orange" role="status">
            {why}
          </Alert>
        )}
        <ImportOutcomeMessage state={state} />
        <ImportActions state={state} run={run} onRun={setRun} onRemoved={onRemoved} />
      </Stack>
    </Paper>
  );
}

function ImportOutcomeMessage({ state: { record, phase } }: { readonly state: ImportRunState }) {
  const { errors, warnings } = record;
  if (isActiveImportPhase(phase)) {
    return (
      <Text size="sm" c="dimmed">
        The import continues while you use other pages. If you close this tab, you can continue the import later.
      </Text>
    );
  }
  return (
    <>
      {errors.length > 0 && <RowErrorTable errors={errors} />}
      {warnings.length > 0 && phase === 'done' && (
        <details>
          <summary>{`Imported with warnings: ${warnings.length.toLocaleString()}`}</summary>
          <RowErrorTable errors={warnings.map(({ row, message }) => ({ row, column: '', value: '', message }))} />
        </details>
      )}
    </>
  );
}

interface ImportActionsProps {
  readonly state: ImportRunState;
  readonly run: ImportBatchSender | undefined;
  readonly onRun: (run: ImportBatchSender) => void;
  readonly onRemoved: () => void;
}

function ImportActions({ state: { record, phase, isLost = false }, run, onRun, onRemoved }: ImportActionsProps) {
  const environment = useEnvironment();
  const save = useApiWrite({ write: () => downloadInvalidRows(record) });
  const remove = useApiWrite({
    write: () => importStore.deleteSpreadsheetImportsFromBrowser(record),
    onDone: onRemoved,
  });
  if (isActiveImportPhase(phase)) {
    return (
      <Button variant="default" w="fit-content" onClick={run?.stop}>
        Pause
      </Button>
    );
  }
  return (
    <Group>
      {phase === 'stopped' && !isLost && (
        <Button onClick={() => onRun(startImportRun(record, environment))}>Continue</Button>
      )}
      {record.wrong.length > 0 && (
        <Button variant="default" onClick={() => save.mutate()}>
          Download rows with errors
        </Button>
      )}
      <Button variant="subtle" color="gray" loading={remove.isPending} onClick={() => remove.mutate()}>
        {phase === 'done' || isLost ? 'Remove import from list' : 'Cancel import'}
      </Button>
    </Group>
  );
}

async function downloadInvalidRows(record: ImportRecord): Promise<void> {
  const { headers, rows } = buildInvalidRowsTable(record);
  downloadCsvText(`${record.name.replace(/\.csv$/i, '')}-errors.csv`, await createCsvText(headers, rows));
}

function isActiveImportPhase(phase: Phase): boolean {
  return phase === 'running' || phase === 'waiting';
}

/** Maximum number of row errors that the page lists. The downloaded file contains all errors. */
const MAX_SHOWN_ERRORS = 200;

export function RowErrorTable({ errors }: { readonly errors: readonly ImportRowError[] }) {
  const unlistedCount = (errors.length - MAX_SHOWN_ERRORS).toLocaleString();
  return (
    <div>
      <div className={classes['errors']} tabIndex={0} role="region" aria-label="Errors by row">
        <Table stickyHeader>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Row</Table.Th>
              <Table.Th>Column</Table.Th>
              <Table.Th>Error</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {errors.slice(0, MAX_SHOWN_ERRORS).map(({ row, column, value, message }, index) => (
              // The position of the error is its key, because two containers in a row may cause the same error message.
              <Table.Tr key={index}>
                <Table.Td>{row}</Table.Td>
                <Table.Td>{column === '' ? '—' : column}</Table.Td>
                <Table.Td>
                  {value !== '' && <b>“{value}” </b>}
                  {message}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {errors.length > MAX_SHOWN_ERRORS && (
        <Text size="sm" c="dimmed">
          {`And ${unlistedCount} more errors`}
        </Text>
      )}
    </div>
  );
}

/** Import runs in this browser tab, by import id. A run continues while the user visits other pages. */
const ongoingImportRuns = new Map<string, ImportBatchSender>();

/** Returns the run of an import in this browser tab. Returns undefined if the tab does not run the import. */
function findImportRun(id: string): ImportBatchSender | undefined {
  return ongoingImportRuns.get(id);
}

/** Starts or continues an import. The import waits while another browser tab is sending it. */
export function startImportRun(record: ImportRecord, environment: Environment): ImportBatchSender {
  const client = getApiClient(environment);
  const sender = async () => getSessionOwnerKey(await client.session.get());
  const run = new ImportBatchSender(record, { api: client, sender, store: importStore, wait: waitSeconds });
  ongoingImportRuns.set(record.id, run);
  void runImportWithBrowserLock(`import-${record.id}`, run);
  return run;
}

/**
 * Runs an import while holding a browser lock, so that only one tab sends it. Pages without HTTPS have no locks. There,
 * idempotency keys prevent duplicates.
 */
async function runImportWithBrowserLock(name: string, run: ImportBatchSender): Promise<void> {
  const locks = (navigator as { locks?: LockManager }).locks;
  if (locks === undefined) return run.runImportUntilDone();
  const isRun = await locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock !== null) await run.runImportUntilDone();
    return lock !== null;
  });
  if (isRun) return;
  run.waitForOtherTab();
  // If the user stops the run while it waits for the lock, the lock request is aborted.
  await locks.request(name, { signal: run.signal }, () => run.runImportUntilDone()).catch(() => undefined);
}

function waitSeconds(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1_000);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
