import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ComponentProps, useState } from 'react';
import { useEnvironment } from '../session/session.ts';
import type { SelectChoice } from './codes.ts';
import { type Place, placeQuery, placeSearchQuery } from './places.ts';
import { type FindChoice, SearchableSelectField } from './search-select.tsx';

const PLACE_CODE_PATTERN = /^([A-Z]{3}|[A-Z]{2}[A-Z2-9]{3})$/;

interface PlaceSelectProps extends Omit<ComponentProps<typeof SearchableSelectField>, 'data' | 'find'> {
  /** Code of the selected port or airport. Null if none is selected. */
  readonly value: string | null;
}

/**
 * Form field to choose a port or airport by name or code. Words can look like codes. The user must therefore confirm a
 * code that the API does not know: by Enter or by picking it.
 */
export function PlaceSelect({ value, ...props }: PlaceSelectProps) {
  const [environment, queries] = [useEnvironment(), useQueryClient()];
  const [typed, setTyped] = useState('');
  const [words] = useDebouncedValue(typed.trim(), 150);
  const { data: chosen } = useQuery({ ...placeQuery(environment, value ?? ''), enabled: value !== null });
  // The text of the field is not used as a search if it is the name of the selected place.
  const isChosen = value !== null && words === formatPlace(value, chosen);
  const found = useQuery({
    ...placeSearchQuery(environment, isChosen ? '' : words),
    placeholderData: keepPreviousData,
  });
  const options = buildPlaceOptions(found.data ?? [], value, chosen, words);
  const ask = async (text: string, isEntered: boolean): Promise<SelectChoice | undefined> => {
    const code = text.toUpperCase();
    const place = PLACE_CODE_PATTERN.test(code) ? await queries.fetchQuery(placeQuery(environment, code)) : null;
    if (place !== null) return toPlaceOption(place);
    const [one, ...others] = await queries.fetchQuery(placeSearchQuery(environment, text));
    if (one !== undefined) return others.length === 0 ? toPlaceOption(one) : undefined;
    return isEntered && PLACE_CODE_PATTERN.test(code) ? { value: code, label: code } : undefined;
  };
  const find: FindChoice = (text, isEntered) => {
    const trimmed = text.trim();
    const known = queries.getQueryData(placeSearchQuery(environment, trimmed).queryKey);
    const named = known?.find(({ code }) => code === trimmed.toUpperCase());
    return named === undefined ? ask(trimmed, isEntered) : toPlaceOption(named);
  };
  return (
    <SearchableSelectField
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${typeof props.label === 'string' ? props.label : 'port'}` }}
      placeholder="Name or code"
      {...props}
      data={options}
      // The field shows all options, because the API has already filtered them.
      filter={({ options: all }) => all}
      value={value}
      find={find}
      onSearchChange={setTyped}
      nothingFoundMessage={
        words === '' ? 'Type a name or code' : found.isFetching ? 'Searching…' : 'No matching port or airport'
      }
    />
  );
}

/** Builds the options of the field: the search results, the selected place, and the typed text if it is a code. */
function buildPlaceOptions(
  found: readonly Place[],
  value: string | null,
  chosen: Place | null | undefined,
  words: string,
): SelectChoice[] {
  const options = new Map(found.map((place) => [place.code, toPlaceOption(place)]));
  if (value !== null && !options.has(value)) options.set(value, { value, label: formatPlace(value, chosen) });
  const code = words.toUpperCase();
  if (PLACE_CODE_PATTERN.test(code) && !options.has(code)) options.set(code, { value: code, label: code });
  return [...options.values()];
}

function toPlaceOption(place: Place): SelectChoice {
  return { value: place.code, label: formatPlace(place.code, place) };
}

function formatPlace(code: string, place: Place | null | undefined): string {
  return place?.name == null ? code : `${place.name}, ${place.country} · ${code}`;
}
