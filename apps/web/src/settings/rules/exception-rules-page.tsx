import { Badge, Button, Modal, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { WorkspaceSettings } from '@tracking/client';
import { useState } from 'react';
import { PageHeader, QueryResultPanel } from '../../app/page.tsx';
import { EXCEPTION_LABELS } from '../../exceptions/exception-labels.ts';
import { PagePermissionGate } from '../../session/permissions.tsx';
import { useEnvironment } from '../../session/session.ts';
import { SeverityBadge } from '../../shipments/shipment-facts.tsx';
import { TRANSPORT_MODE_LABELS, type Mode } from '../../values/codes.ts';
import { RULE_DESCRIPTIONS, type Rule, type RuleType, listRuleDifferences } from './rule-changes.ts';
import { RuleForm } from './rule-form.tsx';
import { LastSettingsChangeNote, settingsQuery } from './settings-change.tsx';

/** Page of the rules that open exceptions automatically, with the severity of each rule. */
export function ExceptionRulesPage() {
  return (
    <PagePermissionGate permission="workspace:admin">
      <ExceptionRulesPanel />
    </PagePermissionGate>
  );
}

function ExceptionRulesPanel() {
  const settings = useQuery(settingsQuery(useEnvironment()));
  const [edited, setEdited] = useState<{ readonly type: RuleType; readonly settings: WorkspaceSettings }>();
  return (
    <Stack>
      <PageHeader
        title="Exception rules"
        about="When exceptions open automatically and how severe they are. The rules apply to live and test shipments."
      />
      <QueryResultPanel query={settings} what="the settings">
        {(known) => (
          <>
            <LastSettingsChangeNote settings={known} />
            <RuleTable settings={known} onEdit={(type) => setEdited({ type, settings: known })} />
          </>
        )}
      </QueryResultPanel>
      <Modal
        opened={edited !== undefined}
        onClose={() => setEdited(undefined)}
        title={edited && EXCEPTION_LABELS[edited.type]}
        size="lg"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {edited !== undefined && <RuleForm {...edited} onClose={() => setEdited(undefined)} />}
      </Modal>
    </Stack>
  );
}

interface RuleTableProps {
  readonly settings: WorkspaceSettings;
  readonly onEdit: (type: RuleType) => void;
}

function RuleTable({ settings, onEdit }: RuleTableProps) {
  const rules = Object.entries(settings.exceptions) as [RuleType, Rule][];
  return (
    <Table.ScrollContainer minWidth={720}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Exception</Table.Th>
            <Table.Th>Severity</Table.Th>
            <Table.Th>Opens when</Table.Th>
            <Table.Th>Settings</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rules.map(([type, rule]) => {
            const isDefault = listRuleDifferences(rule, settings.defaults.exceptions[type]).length === 0;
            return (
              <Table.Tr key={type}>
                <Table.Td>
                  <Text size="sm" fw={600}>
                    {EXCEPTION_LABELS[type]}
                  </Text>
                  <Text size="xs" c="dimmed">
                    {RULE_DESCRIPTIONS[type].description}
                  </Text>
                </Table.Td>
                <Table.Td>
                  {rule.enabled ? (
                    <SeverityBadge severity={rule.severity} />
                  ) : (
                    <Text size="sm" c="dimmed">
                      Off
                    </Text>
                  )}
                </Table.Td>
                <Table.Td>{rule.enabled && <RuleTimesText type={type} rule={rule} />}</Table.Td>
                <Table.Td>
                  <Button
                    size="xs"
                    variant="default"
                    onClick={() => onEdit(type)}
                    aria-label={`Edit ${EXCEPTION_LABELS[type]}`}
                    rightSection={
                      !isDefault && (
                        <Badge size="sm" variant="light" tt="none">
                          Customized
                        </Badge>
                      )
                    }
                  >
                    Edit
                  </Button>
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function RuleTimesText({ type, rule }: { readonly type: RuleType; readonly rule: Rule }) {
  const { before, after } = RULE_DESCRIPTIONS[type];
  const isAtOnce = rule.before_hours === null && rule.after_hours === null;
  const modes = Object.entries(rule.by_mode).map(
    ([mode, hours]) => `${TRANSPORT_MODE_LABELS[mode as Mode]} ${hours} h`,
  );
  return (
    <>
      {isAtOnce && <Text size="sm">Immediately</Text>}
      {rule.before_hours !== null && (
        <Text size="sm">
          {rule.before_hours} h {before}
        </Text>
      )}
      {rule.after_hours !== null && (
        <Text size="sm">
          {rule.after_hours} h {after}
        </Text>
      )}
      {modes.length > 0 && (
        <Text size="xs" c="dimmed">
          {modes.join(' · ')}
        </Text>
      )}
    </>
  );
}
