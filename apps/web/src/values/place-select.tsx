import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useEnvironment } from '../session/session.ts';
import { type Place, placeQuery, placesQuery } from './place-queries.ts';

const CODE = /^([A-Z]{3}|[A-Z]{2}[A-Z2-9]{3})$/;

interface Props extends Omit<SelectProps, 'data' | 'value' | 'onChange' | 'searchable'> {
  /** A code. */
  readonly value: string | null;
  readonly onChange: (code: string | null) => void;
}

/**
 * Chooses a port or airport by its name or code. A code that the service has no name for can be used all the same; one that it
 * knows need not be picked, only typed.
 */
export function PlaceSelect({ value, onChange, ...props }: Props) {
  const [environment, queries] = [useEnvironment(), useQueryClient()];
  const [typed, setTyped] = useState('');
  const [words] = useDebouncedValue(typed.trim(), 150);
  const { data: chosen } = useQuery({ ...placeQuery(environment, value ?? ''), enabled: value !== null });
  // The field shows what is chosen: that is not looked for.
  const isChosen = value !== null && words === labelOf(value, chosen);
  const found = useQuery({
    ...placesQuery(environment, isChosen ? '' : words),
    placeholderData: keepPreviousData,
  });
  const options = optionsOf(found.data ?? [], value, chosen, words);
  const take = async () => {
    const code = typed.trim().toUpperCase();
    if (!CODE.test(code) || code === value) return;
    const place = await queries.fetchQuery(placeQuery(environment, code)).catch(() => null);
    if (place !== null) onChange(code);
  };
  return (
    <Select
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${typeof props.label === 'string' ? props.label : 'the port'}` }}
      placeholder="Name or code"
      {...props}
      searchable
      data={options}
      // The service has searched already.
      filter={({ options: all }) => all}
      value={value}
      onChange={onChange}
      onBlur={() => void take()}
      searchValue={typed}
      onSearchChange={setTyped}
      nothingFoundMessage={
        words === '' ? 'Type a name or a code' : found.isFetching ? 'Searching…' : 'Nothing is called so'
      }
    />
  );
}

/** What can be chosen: what was found, what is chosen now, and what was typed where it is a code. */
export function optionsOf(
  found: readonly Place[],
  value: string | null,
  chosen: Place | null | undefined,
  words: string,
): { readonly value: string; readonly label: string }[] {
  const options = new Map(found.map((place) => [place.code, labelOf(place.code, place)]));
  if (value !== null && !options.has(value)) options.set(value, labelOf(value, chosen));
  const code = words.toUpperCase();
  if (CODE.test(code) && !options.has(code)) options.set(code, code);
  return [...options].map(([one, label]) => ({ value: one, label }));
}

function labelOf(code: string, place: Place | null | undefined): string {
  return place?.name == null ? code : `${place.name}, ${place.country} · ${code}`;
}
