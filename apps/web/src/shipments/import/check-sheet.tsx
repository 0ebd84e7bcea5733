import { Alert, Button, Group, Paper, Select, Stack, Text, Title } from '@mantine/core';
import { type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { failureOf } from '../../app/failures.ts';
import { Waiting } from '../../app/page.tsx';
import { ownerOf, useEnvironment, useSession } from '../../session/session.ts';
import { placeQuery } from '../../values/places.ts';
import { OWN_ZONE } from '../../values/zones.ts';
import { type Checked, type ZoneChoice, checkRows, portsIn } from './check-rows.ts';
import { type Mapping, guessMapping, replacedWhole, toRemember } from './columns.ts';
import { type DayOrder, guessDayOrder } from './dates.ts';
import { importStore } from './import-store.ts';
import classes from './import-page.module.css';
import { MapColumns } from './map-columns.tsx';
import { PreviewShipments } from './preview-shipments.tsx';
import type { Sheet } from './read-file.ts';
import { RowErrors } from './row-errors.tsx';

interface Props {
  readonly sheet: Sheet;
  readonly onBack: () => void;
  readonly onStart: (checked: Checked) => Promise<void>;
}

/** A file before it is imported: what its columns are, what comes of its rows, and what is wrong with them. */
export function CheckSheet(props: Props) {
  const owner = ownerOf(useSession());
  const remembered = useQuery({
    queryKey: ['import-columns', owner],
    // A browser that keeps nothing still imports.
    queryFn: () => importStore.remembered(owner).catch(() => ({})),
    staleTime: Infinity,
    networkMode: 'always',
  });
  return (
    <Waiting query={remembered} what="what columns were the last time">
      {(known) => <Check {...props} guess={guessMapping(props.sheet.headers, known)} />}
    </Waiting>
  );
}

function Check({ sheet, onBack, onStart, guess }: Props & { readonly guess: Mapping }) {
  const [environment, owner] = [useEnvironment(), ownerOf(useSession())];
  const [mapping, setMapping] = useState(guess);
  const [zone, setZone] = useState<ZoneChoice>('port');
  const [dayOrder, setDayOrder] = useState<DayOrder>(() => guessDayOrder(sheet.rows.flat()));
  const [problem, setProblem] = useState<string>();
  const [isStarting, setIsStarting] = useState(false);
  const ports = useMemo(() => portsIn(sheet, mapping), [sheet, mapping]);
  const zones = useQueries({
    queries: zone === 'port' ? ports.map((port) => placeQuery(environment, port)) : [],
    combine: (places) => ({
      isPending: places.some(({ isPending }) => isPending),
      areRead: places.every(({ isSuccess }) => isSuccess),
      failed: places.filter(({ isError }) => isError),
      known: new Map(
        places.flatMap(({ data }) => (data?.timezone == null ? [] : [[data.code, data.timezone] as const])),
      ),
    }),
  });
  const isNamed = mapping.includes('external_id');
  const checked = useMemo(
    () => checkRows(sheet, { mapping, dayOrder, zone, zoneOf: (port) => zones.known.get(port) }),
    [sheet, mapping, dayOrder, zone, zones.known],
  );
  // Until the zones are read, each row would be refused because its zone is not known.
  const isChecked = isNamed && zones.areRead;
  const wrong = new Set(checked.errors.map(({ row }) => row)).size;
  const replaced = replacedWhole(mapping);

  const start = async () => {
    setIsStarting(true);
    try {
      await importStore.remember(owner, toRemember(sheet.headers, mapping));
      await onStart(checked);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setIsStarting(false);
    }
  };
  return (
    <Stack className={classes['narrow']}>
      <Paper withBorder p="md" component="section" aria-label="Columns">
        <Title order={2} size="h5">
          {sheet.name}: what its columns are
        </Title>
        <MapColumns sheet={sheet} mapping={mapping} onChange={setMapping} />
        {replaced.length > 0 && (
          <Text size="sm" c="dimmed" mt="xs">
            Of shipments that are there already, a row replaces these whole: {replaced.join(', ')}. Leave their columns
            out to keep what is there.
          </Text>
        )}
        <div className={classes['options']}>
          <Select
            label="Times without an offset are"
            data={[
              { value: 'port', label: 'local to the port' },
              { value: 'own', label: `of ${OWN_ZONE}` },
              { value: 'utc', label: 'UTC' },
            ]}
            value={zone}
            onChange={(value) => setZone((value as ZoneChoice | null) ?? zone)}
            allowDeselect={false}
          />
          <Select
            label="In dates as 03/04/2027 comes first"
            data={[
              { value: 'day-first', label: 'the day' },
              { value: 'month-first', label: 'the month' },
            ]}
            value={dayOrder}
            onChange={(value) => setDayOrder((value as DayOrder | null) ?? dayOrder)}
            allowDeselect={false}
          />
        </div>
      </Paper>
      {!isNamed && (
        <Alert color="yellow" title="Which column is your reference?">
          Shipments go by it: choose “Your reference” for the column that tells one from another.
        </Alert>
      )}
      <FailedLookups lookups={zones.failed} />
      {isChecked && <CheckedRows checked={checked} wrong={wrong} />}
      {problem !== undefined && (
        <Alert color="red" role="alert" title="The import did not begin">
          {problem}
        </Alert>
      )}
      <Group justify="space-between">
        <Text size="sm" aria-live="polite">
          {isChecked && `${counted(checked.items.length, 'good shipment')}, ${counted(wrong, 'row')} with errors`}
        </Text>
        <Group>
          <Button variant="default" onClick={onBack}>
            Choose another file
          </Button>
          <Button
            disabled={!isChecked || checked.items.length === 0}
            loading={isStarting || (isNamed && zones.isPending)}
            onClick={() => void start()}
          >
            {isChecked ? `Import ${counted(checked.items.length, 'shipment')}` : 'Import'}
          </Button>
        </Group>
      </Group>
    </Stack>
  );
}

/** The failure of the lookups of time zones, with a retry. */
function FailedLookups({ lookups }: { readonly lookups: readonly UseQueryResult[] }) {
  const [first] = lookups;
  if (first === undefined) return null;
  return (
    <Alert color="red" role="alert" title="The time zones of the ports could not be read">
      <Stack align="start" gap="xs">
        <Text size="sm">{failureOf(first.error).message}</Text>
        <Button size="xs" variant="default" onClick={() => lookups.forEach(({ refetch }) => void refetch())}>
          Try again
        </Button>
      </Stack>
    </Alert>
  );
}

function CheckedRows({ checked, wrong }: { readonly checked: Checked; readonly wrong: number }) {
  return (
    <>
      <PreviewShipments items={checked.items} />
      {wrong > 0 && (
        <Paper withBorder p="md" component="section" aria-label="Errors">
          <Title order={2} size="h5" mb="xs">
            {counted(wrong, 'row')} with errors will be left out
          </Title>
          <RowErrors errors={checked.errors} />
        </Paper>
      )}
    </>
  );
}

function counted(count: number, what: string): string {
  return `${count.toLocaleString()} ${what}${count === 1 ? '' : 's'}`;
}
