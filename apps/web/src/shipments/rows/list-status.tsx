import { ActionIcon, Button, Group, Text } from '@mantine/core';
import { IconKeyboard, IconRefresh } from '@tabler/icons-react';
import { LookMenu } from '../columns/look-menu.tsx';
import type { Look } from '../columns/use-look.ts';
import type { ListQuery } from '../search/list-query.ts';
import { ExportAll } from '../several/export-all.tsx';
import { newsText } from './list-news.ts';
import classes from './list-status.module.css';
import type { ShipmentList } from './use-shipment-list.ts';

interface Props {
  readonly list: ShipmentList;
  readonly query: ListQuery;
  readonly look: Look;
  readonly onHelp: () => void;
}

/** One line of one height above the rows, whatever it tells: rows never move by themselves. */
export function ListStatus({ list, query, look, onHelp }: Props) {
  const text = newsText(list.news);
  return (
    <Group justify="space-between" gap="xs" wrap="nowrap" className={classes['line']}>
      <Group gap="xs" wrap="nowrap">
        <Text size="sm" c="dimmed" role="status" className={classes['count']}>
          {!list.isPending && !list.isOld && countText(list.rows.length, list.more)}
        </Text>
        <div role="status">
          {text !== undefined && (
            <Button
              size="compact-sm"
              variant="light"
              loading={list.isReading}
              leftSection={<IconRefresh size={14} aria-hidden />}
              onClick={list.readAnew}
            >
              {text} · Show
            </Button>
          )}
        </div>
      </Group>
      <Group gap={4} wrap="nowrap">
        <ExportAll query={query} disabled={list.rows.length === 0} />
        <LookMenu look={look} />
        <ActionIcon
          variant="subtle"
          color="gray"
          className={classes['keys']}
          aria-label="Keys"
          title="Keys (?)"
          onClick={onHelp}
        >
          <IconKeyboard size={18} />
        </ActionIcon>
      </Group>
    </Group>
  );
}

function countText(count: number, more: boolean): string {
  const number = count.toLocaleString();
  if (more) return `${number} and more`;
  return count === 1 ? '1 shipment' : `${number} shipments`;
}
