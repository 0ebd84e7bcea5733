import { Alert, Button, Group, Paper, Select, Stack, Table, Text, Title } from '@mantine/core';
import { type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { describeFailure } from '../../app/failures.ts';
import { QueryView } from '../../app/page.tsx';
import { sessionOwner, useEnvironment, useSession } from '../../session/session.ts';
import { MODE_LABELS } from '../../values/codes.ts';
import { PlaceName } from '../../values/place.tsx';
import { placeQuery } from '../../values/places.ts';
import { Time } from '../../values/time.tsx';
import { OWN_ZONE } from '../../values/zones.ts';
import { type Body, type Checked, type Item, type ZoneChoice, checkRows, portsIn } from './check-rows.ts';
import {
  type DayOrder,
  type Mapping,
  TARGETS,
  type Target,
  guessDayOrder,
  guessMapping,
  replacedWhole,
  toRemember,
  withTarget,
} from './columns.ts';
import classes from './import-page.module.css';
import { RowErrors } from './import-progress.tsx';
import { importStore } from './import-store.ts';
import type { Sheet } from './read-file.ts';

interface Props {
  readonly sheet: Sheet;
  readonly onBack: () => void;
  readonly onStart: (checked: Checked) => Promise<void>;
}

/** The check of a file before its import: the columns, the resulting shipments and the faults. */
export function CheckSheet(props: Props) {
  const owner = sessionOwner(useSession());
  const remembered = useQuery({
    queryKey: ['import-columns', owner],
    // A browser without storage can import all the same.
    queryFn: () => importStore.remembered(owner).catch(() => ({})),
    staleTime: Infinity,
    networkMode: 'always',
  });
  return (
    <QueryView query={remembered} what="what columns were the last time">
      {(known) => <Check {...props} guess={guessMapping(props.sheet.headers, known)} />}
    </QueryView>
  );
}

function Check({ sheet, onBack, onStart, guess }: Props & { readonly guess: Mapping }) {
  const [environment, owner] = [useEnvironment(), sessionOwner(useSession())];
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
  // Until the zones are read, each row would be refused because its zone is unknown.
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
        <Text size="sm">{describeFailure(first.error).message}</Text>
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

const OPTIONS = Object.entries(TARGETS).map(([value, label]) => ({ value, label }));
const SAMPLES = 3;

interface MapColumnsProps {
  readonly sheet: Sheet;
  readonly mapping: Mapping;
  readonly onChange: (mapping: Mapping) => void;
}

/** Assigns a meaning to each column of the file. */
function MapColumns({ sheet, mapping, onChange }: MapColumnsProps) {
  return (
    <Table.ScrollContainer minWidth={340}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Column of the file</Table.Th>
            <Table.Th>For example</Table.Th>
            <Table.Th w={220}>Is</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sheet.headers.map((header, index) => (
            // Two columns may have the same name.
            <Table.Tr key={index}>
              <Table.Td>{header}</Table.Td>
              <Table.Td className={classes['sample']}>{samplesOf(sheet, index)}</Table.Td>
              <Table.Td>
                <Select
                  aria-label={`What “${header}” is`}
                  data={OPTIONS}
                  value={mapping[index] ?? null}
                  onChange={(target) => onChange(withTarget(mapping, index, target as Target | null))}
                  placeholder="Left out"
                  clearable
                  clearButtonProps={{ 'aria-label': `Leave “${header}” out` }}
                  searchable
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function samplesOf({ rows }: Sheet, column: number): string {
  const samples = new Set<string>();
  for (const row of rows) {
    const cell = row[column] ?? '';
    if (cell !== '') samples.add(cell);
    if (samples.size === SAMPLES) break;
  }
  return [...samples].join(', ');
}

const SHOWN = 5;

/** A preview of the first shipments. */
function PreviewShipments({ items }: { readonly items: readonly Item[] }) {
  if (items.length === 0) return null;
  return (
    <Paper withBorder p="md" component="section" aria-label="Preview">
      <Title order={2} size="h5" mb="xs">
        The first shipments, as they will be
      </Title>
      <Table.ScrollContainer minWidth={760}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Your reference</Table.Th>
              <Table.Th>Mode</Table.Th>
              <Table.Th>From</Table.Th>
              <Table.Th>To</Table.Th>
              <Table.Th>ETD</Table.Th>
              <Table.Th>ETA</Table.Th>
              <Table.Th>Containers</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.slice(0, SHOWN).map(({ body }) => (
              <Table.Tr key={body.external_id}>
                <Table.Td>{body.external_id}</Table.Td>
                <Table.Td>{modeOf(body)}</Table.Td>
                <Table.Td>
                  <PlaceName code={body.origin_port ?? null} />
                </Table.Td>
                <Table.Td>
                  <PlaceName code={body.destination_port ?? null} />
                </Table.Td>
                <Table.Td>
                  <Time value={body.etd ?? null} />
                </Table.Td>
                <Table.Td>
                  <Time value={body.eta ?? null} />
                </Table.Td>
                <Table.Td>{body.container_numbers?.join(', ') ?? '—'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  );
}

function modeOf({ mode }: Body): string {
  return mode == null || !(mode in MODE_LABELS) ? '—' : MODE_LABELS[mode as keyof typeof MODE_LABELS];
}
