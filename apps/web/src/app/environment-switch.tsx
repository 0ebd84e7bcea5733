import { SegmentedControl } from '@mantine/core';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEnvironment } from '../session/session.ts';
import { pathInOther } from './other-environment.ts';

/** Which of the two one works in: by its colour and its word, on every page. */
export function EnvironmentSwitch() {
  const environment = useEnvironment();
  const [{ pathname }, navigate] = [useLocation(), useNavigate()];
  const change = (value: string) =>
    void navigate({ to: pathInOther(pathname), search: { environment: value === 'test' ? 'test' : undefined } });
  return (
    <SegmentedControl
      size="xs"
      aria-label="Environment"
      color={environment === 'test' ? 'var(--test-filled)' : 'blue.8'}
      value={environment}
      data={[
        { value: 'live', label: 'Live' },
        { value: 'test', label: 'Test' },
      ]}
      onChange={change}
    />
  );
}
