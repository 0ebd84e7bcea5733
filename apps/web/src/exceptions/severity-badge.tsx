import { Badge } from '@mantine/core';
import { SEVERITY_COLORS, SEVERITY_LABELS, type Severity } from './exception-labels.ts';

export function SeverityBadge({ severity }: { readonly severity: Severity }) {
  return (
    <Badge color={SEVERITY_COLORS[severity]} variant="light" tt="none" autoContrast miw="max-content">
      {SEVERITY_LABELS[severity]}
    </Badge>
  );
}
