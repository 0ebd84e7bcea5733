import { MultiSelect, type MultiSelectProps, Select, type SelectProps } from '@mantine/core';
import { SearchMultiSelect, SearchSelect } from '../values/search-select.tsx';

/** A select of one entry, which may be searched by typing. */
export interface OneOfProps extends Omit<SelectProps, 'value' | 'onChange'> {
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
}
export interface SomeOfProps extends Omit<MultiSelectProps, 'value' | 'onChange'> {
  readonly value: string[];
  readonly onChange: (value: string[]) => void;
}

export function OneOf({ searchable, ...props }: OneOfProps) {
  return searchable ? <SearchSelect {...props} /> : <Select {...props} onChange={(next) => props.onChange(next)} />;
}

/** The same of several entries. */
export function SomeOf({ searchable, ...props }: SomeOfProps) {
  return searchable ? <SearchMultiSelect {...props} /> : <MultiSelect {...props} />;
}
