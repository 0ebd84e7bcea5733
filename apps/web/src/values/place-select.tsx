import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ComponentProps, useState } from 'react';
import { useEnvironment } from '../session/session.ts';
import type { Choice } from './codes.ts';
import { type Place, placeQuery, placeSearchQuery } from './places.ts';
import { type FindChoice, SearchSelect } from './search-select.tsx';

const PLACE_CODE_PATTERN = /^([A-Z]{3}|[A-Z]{2}[A-Z2-9]{3})$/;

interface PlaceSelectProps extends Omit<ComponentProps<typeof SearchSelect>, 'data' | 'find'> {
  /** Code of the selected port or airport. */
  readonly value: string | null;
}

/**
 * Field to choose a port or airport by name or code. A code that the API does not know must be picked or confirmed with
 * Enter, since words can look like codes.
 */
export function PlaceSelect({ value, ...props }: PlaceSelectProps) {
  const [environment, queries] = [useEnvironment(), useQueryClient()];
  const [typed, setTyped] = useState('');
  const [words] = useDebouncedValue(typed.trim(), 150);
  const { data: chosen } = useQuery({ ...placeQuery(environment, value ?? ''), enabled: value !== null });
  // The field shows the selected place, so its text is not a search.
  const isChosen = value !== null && words === formatPlace(value, chosen);
  const found = useQuery({
    ...placeSearchQuery(environment, isChosen ? '' : words),
    placeholderData: keepPreviousData,
  });
  const options = buildPlaceOptions(found.data ?? [], value, chosen, words);
  const ask = async (text: string, isEntered: boolean): Promise<Choice | undefined> => {
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
    <SearchSelect
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${typeof props.label === 'string' ? props.label : 'port'}` }}
      placeholder="Name or code"
      {...props}
      data={options}
      // The API has already filtered the options.
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

/** Builds the options: search results, the selected place, and the typed text if it is a code. */
function buildPlaceOptions(
  found: readonly Place[],
  value: string | null,
  chosen: Place | null | undefined,
  words: string,
): Choice[] {
  const options = new Map(found.map((place) => [place.code, toPlaceOption(place)]));
  if (value !== null && !options.has(value)) options.set(value, { value, label: formatPlace(value, chosen) });
  const code = words.toUpperCase();
  if (PLACE_CODE_PATTERN.test(code) && !options.has(code)) options.set(code, { value: code, label: code });
  return [...options.values()];
}

function toPlaceOption(place: Place): Choice {
  return { value: place.code, label: formatPlace(place.code, place) };
}

function formatPlace(code: string, place: Place | null | undefined): string {
  return place?.name == null ? code : `${place.name}, ${place.country} · ${code}`;
}
