import { ActionIcon } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { Copy } from '../../app/copy.tsx';
import { type HttpCall, formatCurl } from './calls-of.ts';
import classes from './snippet.module.css';

interface Props {
  readonly text: string;
  /** Name of the content for labels, such as "the command". */
  readonly what: string;
}

/** Code block with a copy button. */
export function Snippet({ text, what }: Props) {
  return (
    <div className={classes['snippet']}>
      {/* Scrollable by keys. */}
      <pre tabIndex={0} role="region" aria-label={what}>
        {text}
      </pre>
      <Copy value={text}>
        {({ copied, copy }) => (
          <ActionIcon
            className={classes['copy']}
            variant="default"
            onClick={copy}
            aria-label={copied ? 'Copied' : `Copy ${what}`}
            title={copied ? 'Copied' : `Copy ${what}`}
          >
            {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </ActionIcon>
        )}
      </Copy>
    </div>
  );
}

/** API request as a curl command, with a placeholder for the key. */
export function CurlCommand(call: HttpCall) {
  return <Snippet text={formatCurl(call, globalThis.location.origin)} what="the command" />;
}
