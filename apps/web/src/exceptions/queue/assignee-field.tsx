import { Autocomplete } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEnvironment, useMay } from '../../session/session.ts';
import { usersQuery } from '../../settings/team/team-queries.ts';

interface Props {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly me: string;
  /** Whom others are with. */
  readonly known: readonly string[];
}

/** Whoever it is, as people are named here: by e-mail in this application, by any name of other systems. */
export function AssigneeField({ value, onChange, me, known }: Props) {
  // Only administrators may see who there is.
  const users = useQuery({ ...usersQuery(useEnvironment()), enabled: useMay('workspace:admin') });
  const active = users.data?.filter(({ status }) => status === 'active') ?? [];
  const others = new Set([...active.map(({ email }) => email), ...known]);
  others.delete(me);
  return (
    <Autocomplete
      label="Assignee"
      description="An e-mail, or what other systems call them; empty for nobody"
      data={[
        { group: 'You', items: [me] },
        { group: 'Others', items: [...others].sort() },
      ]}
      value={value}
      onChange={onChange}
      clearable
      data-autofocus
    />
  );
}
