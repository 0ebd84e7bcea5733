import { Code, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import classes from './preview.module.css';

/** A page with more stands still. */
const MOST_BYTES = 200_000;

export function PlainText({ blob, name }: { readonly blob: Blob; readonly name: string }) {
  const [text, setText] = useState('');
  useEffect(() => {
    let isShown = true;
    void blob
      .slice(0, MOST_BYTES)
      .text()
      .then((read) => isShown && setText(read));
    return () => {
      isShown = false;
    };
  }, [blob]);
  return (
    <>
      <Code block className={classes['text']} tabIndex={0} aria-label={name}>
        {text}
      </Code>
      {blob.size > MOST_BYTES && (
        <Text size="sm" c="dimmed">
          This is its beginning. Download it for the rest.
        </Text>
      )}
    </>
  );
}
