import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Copy } from '../../app/copy.tsx';
import { Time } from '../../values/time.tsx';
import type { Difference } from './differences.ts';
import { type HistoryEntry, told, whoOf } from './history-sentences.ts';
import classes from './history-section.module.css';
import { fieldWords, valueWords } from './value-words.ts';

/** More of them, as of a shipment that was just created, are shown when asked for. */
const SHOWN = 6;

/** One entry: a sentence, what became another, and as it was stored. */
export function HistoryRow({ entry }: { readonly entry: HistoryEntry }) {
  const [showsRaw, setShowsRaw] = useState(false);
  const { did, details, note } = told(entry);
  return (
    <li className={classes['entry']}>
      <Text size="xs" c="dimmed" className={classes['at']}>
        <Time value={entry.at} />
      </Text>
      <Stack gap={4} className={classes['said']}>
        <Text size="sm">
          <strong>{whoOf(entry.actor)}</strong> {did}
        </Text>
        {note !== undefined && <blockquote className={classes['note']}>{note}</blockquote>}
        <Details details={details} />
        {showsRaw && <Raw entry={entry} />}
      </Stack>
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        aria-expanded={showsRaw}
        onClick={() => setShowsRaw(!showsRaw)}
      >
        {showsRaw ? 'Hide raw' : 'Raw'}
      </Button>
    </li>
  );
}

function Details({ details }: { readonly details: readonly Difference[] }) {
  const [showsAll, setShowsAll] = useState(false);
  if (details.length === 0) return null;
  const shown = showsAll ? details : details.slice(0, SHOWN);
  return (
    <>
      <dl className={classes['details']}>
        {shown.map(({ path, from, to }) => (
          <div key={path.join(' ')}>
            <dt>{fieldWords(path)}</dt>
            <dd>
              {from !== null && from !== undefined && <del>{valueWords(from, path.at(-1))}</del>}{' '}
              {valueWords(to, path.at(-1))}
            </dd>
          </div>
        ))}
      </dl>
      {shown.length < details.length && (
        <Button size="compact-xs" variant="subtle" w="fit-content" onClick={() => setShowsAll(true)}>
          Show {details.length - shown.length} more
        </Button>
      )}
    </>
  );
}

function Raw({ entry }: { readonly entry: HistoryEntry }) {
  const text = JSON.stringify(entry, undefined, 2);
  return (
    <Stack gap={4}>
      <Code block className={classes['raw']} tabIndex={0} aria-label="The entry as JSON">
        {text}
      </Code>
      <Group>
        <Copy value={text}>
          {({ copied, copy }) => (
            <Button size="compact-xs" variant="default" onClick={copy}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </Copy>
      </Group>
    </Stack>
  );
}
