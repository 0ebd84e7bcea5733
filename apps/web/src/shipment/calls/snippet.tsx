import { ActionIcon } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { CopyTextRenderPropWrapper } from '../../app/copy.tsx';
import { type HttpRequestParts, formatCurl } from './example-calls.ts';
import classes from './snippet.module.css';

interface CodeSnippetProps {
  readonly text: string;
  /** Name of the code within a sentence, such as "the command". */
  readonly what: string;
}

/** A block of code with a copy button. */
export function CodeSnippet({ text, what }: CodeSnippetProps) {
  return (
    <div className={classes['snippet']}>
      {/* Scrollable by keys. */}
      <pre tabIndex={0} role="region" aria-label={what}>
        {text}
      </pre>
      <CopyTextRenderPropWrapper value={text}>
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
      </CopyTextRenderPropWrapper>
    </div>
  );
}

/** An API request as a curl command. A placeholder stands for the API key. */
export function CurlCommand(call: HttpRequestParts) {
  return <CodeSnippet text={formatCurl(call, globalThis.location.origin)} what="the command" />;
}
