/** Loaded by `late-selects.tsx`. */
export { MultiSelect, Select } from '@mantine/core';
