import { Alert } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import classes from './preview.module.css';

export function Picture({ blob, name }: { readonly blob: Blob; readonly name: string }) {
  const picture = useRef<HTMLImageElement>(null);
  const [isBroken, setIsBroken] = useState(false);
  useEffect(() => {
    const url = URL.createObjectURL(blob);
    if (picture.current !== null) picture.current.src = url;
    return () => URL.revokeObjectURL(url);
  }, [blob]);
  if (isBroken) {
    return <Alert color="yellow">The picture is damaged, or in a form that this browser does not know.</Alert>;
  }
  return <img ref={picture} className={classes['picture']} alt={name} onError={() => setIsBroken(true)} />;
}
