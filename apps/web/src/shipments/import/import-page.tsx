import { Alert, Anchor, Stack, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { onDemand } from '../../app/lazy.tsx';
import { PageHeader } from '../../app/page.tsx';
import { ownerOf, useEnvironment, useSession } from '../../session/session.ts';
import { randomId } from '../../app/write.ts';
import { WritersOnly } from '../form/writers-only.tsx';
import type { Checked } from './check-rows.ts';
import { ChooseFile } from './choose-file.tsx';
import { planImport } from './import-plan.ts';
import { ImportProgress } from './import-progress.tsx';
import { importStore } from './import-store.ts';
import classes from './import-page.module.css';
import type { Sheet } from './read-file.ts';
import { startRun } from './runs.ts';

const CheckSheet = onDemand(async () => (await import('./check-sheet.tsx')).CheckSheet);

export function ImportPage() {
  return (
    <Stack>
      <Anchor component={Link} to="/shipments" size="sm" w="fit-content">
        Shipments
      </Anchor>
      <PageHeader
        title="Import shipments"
        about="From a CSV file. Nothing is sent before you have seen what comes of it."
      />
      <WritersOnly>
        <Imports />
      </WritersOnly>
    </Stack>
  );
}

function Imports() {
  const [environment, queries, session] = [useEnvironment(), useQueryClient(), useSession()];
  const [sheet, setSheet] = useState<Sheet>();
  const owner = ownerOf(session);
  const queryKey = ['imports', environment, owner];
  const kept = useQuery({
    queryKey,
    queryFn: () => importStore.list(owner, environment),
    // Of this browser: also without a connection.
    networkMode: 'always',
  });
  const reload = () => void queries.invalidateQueries({ queryKey });
  const start = async (read: Sheet, checked: Checked) => {
    const whose = { id: randomId(), owner, environment, startedAt: new Date().toISOString() };
    const { record, batches } = planImport(read, checked, whose);
    await importStore.add(record, batches);
    startRun(record, environment);
    setSheet(undefined);
    reload();
  };
  if (sheet !== undefined)
    return <CheckSheet sheet={sheet} onBack={() => setSheet(undefined)} onStart={(checked) => start(sheet, checked)} />;
  return (
    <Stack className={classes['narrow']}>
      {kept.isError && (
        <Alert color="yellow" title="This browser keeps nothing">
          Imports need its storage, so that a closed tab loses nothing: allow it for this page, or leave private mode.
        </Alert>
      )}
      {kept.data?.map((record) => (
        <ImportProgress key={record.id} record={record} onRemoved={reload} />
      ))}
      {kept.data !== undefined && kept.data.length > 0 && (
        <Title order={2} size="h5">
          Another file
        </Title>
      )}
      <ChooseFile onSheet={setSheet} />
    </Stack>
  );
}
