import { Anchor, Badge, Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconClock, IconUpload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { DocumentType, ShipmentDocument } from '@tracking/client';
import { Waiting } from '../../app/page.tsx';
import { DOCUMENT_LABELS } from '../../documents/document-labels.ts';
import { useEnvironment } from '../../session/session.ts';
import { useShipment } from '../current-shipment.ts';
import { words } from '../history/value-words.ts';
import { requiredQuery } from './document-queries.ts';
import { type Fulfilment, checklist } from './document-versions.ts';
import classes from './documents-section.module.css';

const STATES = {
  approved: { label: 'Approved', color: 'green', icon: IconCircleCheck },
  uploaded: { label: 'To be reviewed', color: 'blue', icon: IconClock },
  rejected: { label: 'Rejected', color: 'red', icon: IconAlertTriangle },
  missing: { label: 'Missing', color: 'orange', icon: IconAlertTriangle },
} as const satisfies Record<Fulfilment, object>;

interface Props {
  readonly documents: readonly ShipmentDocument[];
  readonly onOpen: (id: string) => void;
  /** Lets a person choose the file of a type; undefined for who may not send any. */
  readonly onChoose: ((type: DocumentType) => void) | undefined;
}

/** What the workspace requires for shipments of this mode, and how far it is there. */
export function RequiredDocuments({ documents, onOpen, onChoose }: Props) {
  const { mode } = useShipment();
  const required = useQuery(requiredQuery(useEnvironment()));
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="required-documents">
      <Title order={2} size="h5" id="required-documents" mb="xs">
        Required
      </Title>
      {mode === null ? (
        <Text size="sm" c="dimmed">
          What is required goes by the mode, which this shipment does not have yet.
        </Text>
      ) : (
        <Waiting query={required} what="what is required">
          {(byMode) => {
            const items = checklist(byMode[mode] ?? [], documents);
            if (items.length === 0) return <Nothing mode={mode} />;
            const there = items.filter(({ state }) => state !== 'missing').length;
            return (
              <Stack gap="xs">
                <Text size="sm" c="dimmed">
                  {words(mode)} shipments need these. {there} of {items.length} are here.
                </Text>
                <ul className={classes['checklist']}>
                  {items.map(({ type, state, document }) => {
                    const { label, color, icon: Icon } = STATES[state];
                    return (
                      <li key={type}>
                        <Group gap="xs" wrap="nowrap">
                          <Icon size={18} aria-hidden />
                          {document === undefined ? (
                            <Text size="sm">{DOCUMENT_LABELS[type]}</Text>
                          ) : (
                            <Anchor component="button" type="button" size="sm" onClick={() => onOpen(document.id)}>
                              {DOCUMENT_LABELS[type]}
                            </Anchor>
                          )}
                        </Group>
                        <Badge color={color} variant="light" tt="none" autoContrast>
                          {label}
                        </Badge>
                        {state === 'missing' && onChoose !== undefined && (
                          <Button
                            size="compact-xs"
                            variant="default"
                            leftSection={<IconUpload size={14} aria-hidden />}
                            aria-label={`Choose a file: ${DOCUMENT_LABELS[type]}`}
                            onClick={() => onChoose(type)}
                          >
                            Choose a file
                          </Button>
                        )}
                      </li>
                    );
                  })}
                </ul>
              </Stack>
            );
          }}
        </Waiting>
      )}
    </Paper>
  );
}

function Nothing({ mode }: { readonly mode: string }) {
  return (
    <Text size="sm" c="dimmed">
      Nothing is required for {mode} shipments. Administrators choose that in the settings.
    </Text>
  );
}
