import { Button, Group, Indicator, TextInput } from '@mantine/core';
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks';
import { IconAdjustmentsHorizontal, IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { LateMultiSelect, LateSelect } from '../../app/late-selects.tsx';
import { onDemand } from '../../app/lazy.tsx';
import { STATUSES, STATUS_LABELS } from '../../values/codes.ts';
import classes from './filter-bar.module.css';
import { FilterPills } from './filter-pills.tsx';
import { SORT_LABELS } from './filter-labels.ts';
import { filtersOf, SHIPMENT_SORTS, type ShipmentSort, USUAL_SORT } from './shipment-search.ts';
import type { SearchState } from './use-shipment-search.ts';

const FilterDrawer = onDemand(
  async () => (await import('./filter-drawer.tsx')).FilterDrawer,
  ({ opened }) => opened,
);

/** Where a key leads to. */
export const SEARCH_BOX = 'shipment-search';
const SORTS = SHIPMENT_SORTS.map((value) => ({ value, label: SORT_LABELS[value] }));
const STATUS_OPTIONS = STATUSES.map((value) => ({ value, label: STATUS_LABELS[value] }));
/** Between two keys of somebody who types on. */
const TYPING_MS = 250;

export function FilterBar({ state }: { readonly state: SearchState }) {
  const { search, change } = state;
  const [isOpen, { open, close }] = useDisclosure(false);
  const { q: _q, status: _status, ...others } = filtersOf(search);
  const count = Object.keys(others).length;
  return (
    <>
      <Group gap="xs" align="end" role="search" aria-label="Shipments">
        <SearchBox q={search.q ?? ''} onSearch={(q) => change({ q })} />
        <LateMultiSelect
          className={classes['wide']}
          label="Status"
          placeholder={search.status === undefined ? 'Any' : ''}
          data={STATUS_OPTIONS}
          value={search.status?.split(',') ?? []}
          onChange={(values) => change({ status: values.join(',') })}
          clearable
          miw={180}
          maw={360}
        />
        <LateSelect
          className={classes['order']}
          label="Order"
          data={SORTS}
          value={search.sort ?? USUAL_SORT}
          onChange={(sort) => change({ sort: sort as ShipmentSort })}
          allowDeselect={false}
          w={200}
        />
        <Indicator label={count} size={18} disabled={count === 0} color="blue.8">
          <Button
            variant="default"
            leftSection={<IconAdjustmentsHorizontal size={16} aria-hidden />}
            onClick={open}
            aria-haspopup="dialog"
          >
            Filters
          </Button>
        </Indicator>
      </Group>
      <FilterPills state={state} />
      <FilterDrawer state={state} opened={isOpen} onClose={close} />
    </>
  );
}

interface SearchBoxProps {
  readonly q: string;
  readonly onSearch: (q: string | undefined) => void;
}

/** Searches as one types; what the address says meanwhile (back, a view) is taken over where nobody types. */
function SearchBox({ q, onSearch }: SearchBoxProps) {
  const [typed, setTyped] = useState(q);
  const said = useRef(q);
  const find = useDebouncedCallback((text: string) => {
    said.current = text.trim();
    onSearch(said.current === '' ? undefined : said.current);
  }, TYPING_MS);
  useEffect(() => {
    if (q === said.current) return;
    said.current = q;
    setTyped(q);
  }, [q]);
  return (
    <TextInput
      id={SEARCH_BOX}
      className={classes['search']}
      label="Search"
      placeholder="Reference, container, party, vessel"
      leftSection={<IconSearch size={16} aria-hidden />}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        find(event.currentTarget.value);
      }}
    />
  );
}
