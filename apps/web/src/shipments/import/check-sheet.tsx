import { Alert, Button, Group, Paper, Select, Stack, Table, Text, Title } from '@mantine/core';
import { type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { describeFailure } from '../../app/failures.ts';
import { QueryResultPanel } from '../../app/page.tsx';
import { getSessionOwnerKey, useEnvironment, useSession } from '../../session/session.ts';
import { TRANSPORT_MODE_LABELS } from '../../values/codes.ts';
import { PlaceName } from '../../values/place.tsx';
import { placeQuery } from '../../values/places.ts';
import { TimeAsEnteredText } from '../../values/time.tsx';
import { USER_TIME_ZONE } from '../../values/zones.ts';
import { convertRowsToShipments, listImportedPortCodes } from './check-rows.ts';
import type { Body, RowCheckResult, ShipmentToImport, ZoneChoice } from './check-rows.ts';
import {
  type DayOrder,
  type Mapping,
  IMPORT_FIELD_LABELS,
  type Target,
  guessDayOrder,
  guessMapping,
  listShipmentPartsReplacedByImport,
  indexMappingByHeader,
  mapColumnToField,
} from './columns.ts';
import classes from './import-page.module.css';
import { RowErrorTable } from './import-progress.tsx';
import { importStore } from './import-store.ts';
import type { ImportFileContent } from './read-file.ts';

interface SheetReviewProps {
  readonly sheet: ImportFileContent;
  readonly onBack: () => void;
  readonly onStart: (checked: RowCheckResult) => Promise<void>;
}

/** Review of an imported file before any row is sent: column mapping, preview of shipments, and errors. */
export function SheetReview(props: SheetReviewProps) {
  const owner = getSessionOwnerKey(useSession());
  const remembered = useQuery({
    queryKey: ['import-columns', owner],
    // If the browser cannot read the stored column mapping, the import continues without it.
    queryFn: () => importStore.getColumnMapping(owner).catch(() => ({})),
    staleTime: Infinity,
    networkMode: 'always',
  });
  return (
    <QueryResultPanel query={remembered} what="column settings of earlier imports">
      {(known) => <SheetReviewForm {...props} guess={guessMapping(props.sheet.headers, known)} />}
    </QueryResultPanel>
  );
}

function SheetReviewForm({ sheet, onBack, onStart, guess }: SheetReviewProps & { readonly guess: Mapping }) {
  const [environment, owner] = [useEnvironment(), getSessionOwnerKey(useSession())];
  const [mapping, setMapping] = useState(guess);
  const [zone, setZone] = useState<ZoneChoice>('port');
  const [dayOrder, setDayOrder] = useState<DayOrder>(() => guessDayOrder(sheet.rows.flat()));
  const [problem, setProblem] = useState<string>();
  const [isStarting, setIsStarting] = useState(false);
  const ports = useMemo(() => listImportedPortCodes(sheet, mapping), [sheet, mapping]);
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
    () => convertRowsToShipments(sheet, { mapping, dayOrder, zone, zoneOf: (port) => zones.known.get(port) }),
    [sheet, mapping, dayOrder, zone, zones.known],
  );
  // Rows are checked only after the time zones of the ports are read. Before that, every row would show an error.
  const isChecked = isNamed && zones.areRead;
  const wrong = new Set(checked.errors.map(({ row }) => row)).size;
  const replaced = listShipmentPartsReplacedByImport(mapping);

  const start = async () => {
    setIsStarting(true);
    try {
      await importStore.storeColumnMapping(owner, indexMappingByHeader(sheet.headers, mapping));
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
          {`Columns of ${sheet.name}`}
        </Title>
        <ColumnMappingTable sheet={sheet} mapping={mapping} onChange={setMapping} />
        {replaced.length > 0 && (
          <Text size="sm" c="dimmed" mt="xs">
            {`For existing shipments, a row replaces all ${LIST_FORMAT.format(replaced)}. Ignore these columns to keep the current values.`}
          </Text>
        )}
        <div className={classes['options']}>
          <Select
            label="Time zone of times without offset"
            data={[
              { value: 'port', label: 'Local time at the port' },
              { value: 'own', label: USER_TIME_ZONE },
              { value: 'utc', label: 'UTC' },
            ]}
            value={zone}
            onChange={(value) => setZone((value as ZoneChoice | null) ?? zone)}
            allowDeselect={false}
          />
          <Select
            label="Order of dates such as 03/04/2027"
            data={[
              { value: 'day-first', label: 'Day first' },
              { value: 'month-first', label: 'Month first' },
            ]}
            value={dayOrder}
            onChange={(value) => setDayOrder((value as DayOrder | null) ?? dayOrder)}
            allowDeselect={false}
          />
        </div>
      </Paper>
      {!isNamed && (
        <Alert color="yellow" title="Select the reference column">
          Choose “Your reference” for the column that identifies each shipment.
        </Alert>
      )}
      <ZoneLookupErrorAlert lookups={zones.failed} />
      {isChecked && <ImportPreview checked={checked} wrong={wrong} />}
      {problem !== undefined && (
        <Alert color="red" role="alert" title="Import not started">
          {problem}
        </Alert>
      )}
      <Group justify="space-between">
        <Text size="sm" aria-live="polite">
          {isChecked &&
            `${formatCountWithNoun(checked.items.length, 'shipment')} ready to import, ${formatCountWithNoun(wrong, 'row')} with errors`}
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
            {isChecked ? `Import ${formatCountWithNoun(checked.items.length, 'shipment')}` : 'Import'}
          </Button>
        </Group>
      </Group>
    </Stack>
  );
}

/** Shows that the time zones of ports could not be read, with a button to try again. */
function ZoneLookupErrorAlert({ lookups }: { readonly lookups: readonly UseQueryResult[] }) {
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

function ImportPreview({ checked, wrong }: { readonly checked: RowCheckResult; readonly wrong: number }) {
  return (
    <>
      <ShipmentPreviewTable items={checked.items} />
      {wrong > 0 && (
        <Paper withBorder p="md" component="section" aria-label="Errors">
          <Title order={2} size="h5" mb="xs">
            {`${formatCountWithNoun(wrong, 'row')} with errors will be skipped`}
          </Title>
          <RowErrorTable errors={checked.errors} />
        </Paper>
      )}
    </>
  );
}

function formatCountWithNoun(count: number, what: string): string {
  return `${count.toLocaleString()} ${what}${count === 1 ? '' : 's'}`;
}

const IMPORT_TARGET_FIELD_OPTIONS = Object.entries(IMPORT_FIELD_LABELS).map(([value, label]) => ({ value, label }));
const LIST_FORMAT = new Intl.ListFormat('en');
const MAX_SAMPLE_VALUES = 3;

interface ColumnMappingTableProps {
  readonly sheet: ImportFileContent;
  readonly mapping: Mapping;
  readonly onChange: (mapping: Mapping) => void;
}

/** Table in which the user maps each column of the file to a field. */
function ColumnMappingTable({ sheet, mapping, onChange }: ColumnMappingTableProps) {
  return (
    <Table.ScrollContainer minWidth={340}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Column in file</Table.Th>
            <Table.Th>Examples</Table.Th>
            <Table.Th w={220}>Field</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sheet.headers.map((header, index) => (
            // The position of the column is its key, because two columns may have the same name.
            <Table.Tr key={index}>
              <Table.Td>{header}</Table.Td>
              <Table.Td className={classes['sample']}>{joinSampleCellsOfColumn(sheet, index)}</Table.Td>
              <Table.Td>
                <Select
                  aria-label={`Field for column “${header}”`}
                  data={IMPORT_TARGET_FIELD_OPTIONS}
                  value={mapping[index] ?? null}
                  onChange={(target) => onChange(mapColumnToField(mapping, index, target as Target | null))}
                  placeholder="Ignored"
                  clearable
                  clearButtonProps={{ 'aria-label': `Ignore column “${header}”` }}
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

function joinSampleCellsOfColumn({ rows }: ImportFileContent, column: number): string {
  const samples = new Set<string>();
  for (const row of rows) {
    const cell = row[column] ?? '';
    if (cell !== '') samples.add(cell);
    if (samples.size === MAX_SAMPLE_VALUES) break;
  }
  return [...samples].join(', ');
}

const MAX_PREVIEW_ROWS = 5;

/** Preview of the first shipments in the imported file. */
function ShipmentPreviewTable({ items }: { readonly items: readonly ShipmentToImport[] }) {
  if (items.length === 0) return null;
  return (
    <Paper withBorder p="md" component="section" aria-label="Preview">
      <Title order={2} size="h5" mb="xs">
        Preview of the first shipments
      </Title>
      <Table.ScrollContainer minWidth={760}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Your reference</Table.Th>
              <Table.Th>Mode</Table.Th>
              <Table.Th>Origin</Table.Th>
              <Table.Th>Destination</Table.Th>
              <Table.Th>ETD</Table.Th>
              <Table.Th>ETA</Table.Th>
              <Table.Th>Containers</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.slice(0, MAX_PREVIEW_ROWS).map(({ body }) => (
              <Table.Tr key={body.external_id}>
                <Table.Td>{body.external_id}</Table.Td>
                <Table.Td>{getModeLabel(body)}</Table.Td>
                <Table.Td>
                  <PlaceName code={body.origin_port ?? null} />
                </Table.Td>
                <Table.Td>
                  <PlaceName code={body.destination_port ?? null} />
                </Table.Td>
                <Table.Td>
                  <TimeAsEnteredText value={body.etd ?? null} />
                </Table.Td>
                <Table.Td>
                  <TimeAsEnteredText value={body.eta ?? null} />
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

function getModeLabel({ mode }: Body): string {
  return mode == null || !(mode in TRANSPORT_MODE_LABELS)
    ? '—'
    : TRANSPORT_MODE_LABELS[mode as keyof typeof TRANSPORT_MODE_LABELS];
}
