import { Button, Divider, Drawer, Group, MultiSelect, Select, Stack, TextInput } from '@mantine/core';
import { Fragment, useState } from 'react';
import { MODE_OPTIONS, STATUSES, STATUS_LABELS } from '../../values/codes.ts';
import { PlaceSelect } from '../../values/place-select.tsx';
import { DateField } from '../../values/time-fields.tsx';
import { PLAIN_FIELD_NAMES, plainField } from '../plain-fields.ts';
import { type SearchState, filterLabel } from './filters.ts';
import {
  type DayFilter,
  type FilterName,
  type ShipmentFilters,
  type YesNoFilter,
  getFilters,
  filtersOfKind,
  toIsoDate,
  withoutEmpty,
} from './shipment-search.ts';

const CHOICE_FILTERS = PLAIN_FIELD_NAMES.filter((name) => plainField(name).choices !== undefined);
const [OWN_REFERENCE, ...REFERENCES] = filtersOfKind('reference');
const NUMBER_FILTERS = [OWN_REFERENCE, ...filtersOfKind('container'), ...REFERENCES].filter(
  (name) => name !== undefined,
);
const PARTY_FILTERS = filtersOfKind('carrier', 'party');
const FILTER_HINTS: Partial<Record<FilterName, string>> = {
  carrier_scac: 'SCAC or IATA code',
  shipper: 'Your code for the party. To find a name, use the search.',
  consignee: 'Your code for the party. To find a name, use the search.',
};

interface Props {
  readonly state: SearchState;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Drawer with all filters of the list. Filters apply when the user confirms. */
export function FilterDrawer({ state, opened, onClose }: Props) {
  return (
    <Drawer opened={opened} onClose={onClose} title="Filters" position="right" size="sm">
      <FilterForm state={state} onClose={onClose} />
    </Drawer>
  );
}

function FilterForm({ state: { search, replace }, onClose }: Omit<Props, 'opened'>) {
  const [draft, setDraft] = useState<ShipmentFilters>(getFilters(search));
  // Clearing also removes unconfirmed text from the fields.
  const [clearings, setClearings] = useState(0);
  const change = (changes: ShipmentFilters) => setDraft((now) => ({ ...now, ...changes }));
  const show = () => {
    replace({ ...withoutEmpty(draft), sort: search.sort, columns: search.columns });
    onClose();
  };
  const clear = () => {
    setDraft(search.q === undefined ? {} : { q: search.q });
    setClearings((count) => count + 1);
  };
  const fields = { draft, change };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        show();
      }}
    >
      <Stack gap="sm">
        <MultiSelect
          label={filterLabel('status')}
          placeholder={draft.status === undefined ? 'Any' : ''}
          data={STATUSES.map((value) => ({ value, label: STATUS_LABELS[value] }))}
          value={draft.status?.split(',') ?? []}
          onChange={(values) => change({ status: values.length === 0 ? undefined : values.join(',') })}
          clearable
        />
        <YesNoField name="active" yes="Active" no="Delivered, ended or cancelled" {...fields} />
        <YesNoField name="has_open_exceptions" yes="With open exceptions" no="Without open exceptions" {...fields} />
        <Select
          label={filterLabel('mode')}
          placeholder="Any"
          data={MODE_OPTIONS}
          value={draft.mode ?? null}
          onChange={(mode) => change({ mode: (mode as ShipmentFilters['mode']) ?? undefined })}
          clearable
        />
        {CHOICE_FILTERS.map((name) => (
          <Select
            key={name}
            label={filterLabel(name)}
            placeholder="Any"
            data={plainField(name).choices ?? []}
            value={draft[name] ?? null}
            onChange={(value) => change({ [name]: value ?? undefined })}
            clearable
          />
        ))}
        <Divider label="Ports and airports" />
        {filtersOfKind('port').map((name) => (
          <PlaceSelect
            key={`${name} ${clearings}`}
            label={filterLabel(name)}
            value={draft[name] ?? null}
            onChange={(code) => change({ [name]: code ?? undefined })}
          />
        ))}
        <Divider label="Dates in your time zone" />
        <Fragment key={clearings}>
          <DayFields from="eta_from" to="eta_to" {...fields} />
          <DayFields from="created_from" to="created_to" {...fields} />
          <DayFields from="updated_since" {...fields} />
        </Fragment>
        <Divider label="Exact numbers" />
        {[...NUMBER_FILTERS, ...PARTY_FILTERS].map((name) => (
          <TextInput
            key={name}
            label={filterLabel(name)}
            description={FILTER_HINTS[name]}
            value={draft[name] ?? ''}
            onChange={(event) => change({ [name]: event.currentTarget.value })}
          />
        ))}
        <Group justify="end">
          <Button variant="default" onClick={clear}>
            Clear filters
          </Button>
          <Button type="submit">Apply filters</Button>
        </Group>
      </Stack>
    </form>
  );
}

interface FieldsProps {
  readonly draft: ShipmentFilters;
  readonly change: (changes: ShipmentFilters) => void;
}

function YesNoField({
  name,
  yes,
  no,
  draft,
  change,
}: FieldsProps & { readonly name: YesNoFilter; readonly yes: string; readonly no: string }) {
  const value = draft[name];
  return (
    <Select
      label={filterLabel(name)}
      placeholder="Any"
      data={[
        { value: 'yes', label: yes },
        { value: 'no', label: no },
      ]}
      value={value === undefined ? null : value ? 'yes' : 'no'}
      onChange={(chosen) => change({ [name]: chosen === null ? undefined : chosen === 'yes' })}
      clearable
    />
  );
}

function DayFields({ from, to, draft, change }: FieldsProps & { readonly from: DayFilter; readonly to?: DayFilter }) {
  const names = to === undefined ? [from] : [from, to];
  return (
    <Group grow gap="xs">
      {names.map((name) => (
        <DateField
          key={name}
          type="date"
          label={filterLabel(name)}
          value={draft[name] === undefined ? '' : toIsoDate(draft[name], new Date())}
          onChange={(day) => change({ [name]: day })}
        />
      ))}
    </Group>
  );
}
