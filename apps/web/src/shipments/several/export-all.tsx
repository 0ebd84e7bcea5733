import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { useWrite } from '../../app/write.ts';
import { useApi } from '../../session/session.ts';
import type { ListQuery } from '../search/list-query.ts';
import { type ShipmentSort, USUAL_SORT } from '../search/shipment-search.ts';
import { exportCsv } from './export-csv.ts';

const PAGE = 200;

/** A file of all that match, beyond those that the page has read. */
export function ExportAll({ query, disabled }: { readonly query: ListQuery; readonly disabled: boolean }) {
  const client = useApi();
  const [count, setCount] = useState<number>();
  const stopped = useRef<AbortController>(undefined);
  const exporting = useWrite({
    write: async () => {
      const { signal } = (stopped.current = new AbortController());
      setCount(0);
      try {
        const pages = client.shipments.list({ ...query, sort: fixedSort(query), limit: PAGE }, { signal }).pages();
        await exportCsv(dataOf(pages), setCount);
      } finally {
        setCount(undefined);
      }
    },
    // Whoever stopped it knows.
    shows: () => stopped.current?.signal.aborted ?? false,
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
          <Text role="status">{(count ?? 0).toLocaleString()} shipments so far …</Text>
          {fixedSort(query) !== (query.sort ?? USUAL_SORT) && (
            <Text size="sm" c="dimmed">
              The file is in the order of creation: in others, a row that changes meanwhile would be left out or
              repeated.
            </Text>
          )}
          <Group justify="end">
            <Button variant="default" onClick={stop}>
              Stop
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

/** An order in which no row moves while pages are read. */
function fixedSort({ sort = USUAL_SORT }: ListQuery): ShipmentSort {
  return sort === 'created_at' || sort === '-created_at' ? sort : '-created_at';
}

async function* dataOf<Row>(pages: AsyncIterable<{ readonly data: readonly Row[] }>) {
  for await (const { data } of pages) yield data;
}
