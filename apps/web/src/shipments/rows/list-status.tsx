import { ActionIcon, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconDownload, IconKeyboard, IconRefresh } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { useApiWrite } from '../../app/write.ts';
import { useApi, useEnvironment } from '../../session/session.ts';
import { type ListAppearance, ListAppearanceMenu } from '../columns.tsx';
import { type ListQuery, type ShipmentSort, DEFAULT_SHIPMENT_LIST_SORT } from '../search/shipment-search.ts';
import { exportShipmentsAsCsv } from '../bulk-actions/export-csv.ts';
import { formatListUpdates } from './list-updates.ts';
import classes from './list-status.module.css';
import type { ShipmentList } from './use-shipment-list.ts';

interface ListStatusProps {
  readonly list: ShipmentList;
  readonly query: ListQuery;
  readonly look: ListAppearance;
  readonly onHelp: () => void;
}

/** Status line above the shipment list. Its height never changes, so that the rows do not move. */
export function ShipmentListStatusLine({ list, query, look, onHelp }: ListStatusProps) {
  const text = formatListUpdates(list.news);
  return (
    <Group justify="space-between" gap="xs" wrap="nowrap" className={classes['line']}>
      <Group gap="xs" wrap="nowrap">
        <Text size="sm" c="dimmed" role="status" className={classes['count']}>
          {!list.isPending && !list.isOld && formatRowCount(list.rows.length, list.more)}
        </Text>
        <div role="status">
          {text !== undefined && (
            <Button
              size="compact-sm"
              variant="light"
              loading={list.isReading}
              leftSection={<IconRefresh size={14} aria-hidden />}
              onClick={list.readAnew}
            >
              {`${text} · Refresh`}
            </Button>
          )}
        </div>
      </Group>
      <Group gap={4} wrap="nowrap">
        <ExportShipmentsButton query={query} disabled={list.rows.length === 0} />
        <ListAppearanceMenu look={look} />
        <ActionIcon
          variant="subtle"
          color="gray"
          className={classes['keys']}
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
          onClick={onHelp}
        >
          <IconKeyboard size={18} />
        </ActionIcon>
      </Group>
    </Group>
  );
}

function formatRowCount(count: number, more: boolean): string {
  const number = count.toLocaleString();
  if (more) return `${number}+ shipments`;
  return count === 1 ? '1 shipment' : `${number} shipments`;
}

const EXPORT_PAGE_SIZE = 200;

/** Button that exports all matching shipments to a CSV file, including shipments that are not loaded. */
function ExportShipmentsButton({ query, disabled }: { readonly query: ListQuery; readonly disabled: boolean }) {
  const [client, environment] = [useApi(), useEnvironment()];
  const [count, setCount] = useState<number>();
  const stopped = useRef<AbortController>(undefined);
  const exporting = useApiWrite({
    write: async () => {
      const { signal } = (stopped.current = new AbortController());
      setCount(0);
      try {
        const pages = client.shipments
          .list({ ...query, sort: chooseStableSort(query), limit: EXPORT_PAGE_SIZE }, { signal })
          .pages();
        await exportShipmentsAsCsv(environment, yieldRowsOfEachPage(pages), setCount);
      } finally {
        setCount(undefined);
      }
    },
    // No error is shown if the user stopped the export.
    showsError: () => stopped.current?.signal.aborted ?? false,
  });
  const stop = () => stopped.current?.abort();
  return (
    <>
      <Button
        size="compact-sm"
        variant="subtle"
        leftSection={<IconDownload size={16} aria-hidden />}
        disabled={disabled}
        onClick={() => exporting.mutate()}
      >
        Export CSV
      </Button>
      <Modal opened={count !== undefined} onClose={stop} title="Export CSV" closeOnClickOutside={false}>
        <Stack>
          <Text role="status">{`${(count ?? 0).toLocaleString()} shipments exported so far…`}</Text>
          {chooseStableSort(query) !== (query.sort ?? DEFAULT_SHIPMENT_LIST_SORT) && (
            <Text size="sm" c="dimmed">
              The file is sorted by creation date. Other orders could skip or repeat shipments that change during the
              export.
            </Text>
          )}
          <Group justify="end">
            <Button variant="default" onClick={stop}>
              Stop export
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

/** Returns a sort order that does not change while the pages of an export are read. */
function chooseStableSort({ sort = DEFAULT_SHIPMENT_LIST_SORT }: ListQuery): ShipmentSort {
  return sort === 'created_at' || sort === '-created_at' ? sort : '-created_at';
}

async function* yieldRowsOfEachPage<Row>(pages: AsyncIterable<{ readonly data: readonly Row[] }>) {
  for await (const { data } of pages) yield data;
}
