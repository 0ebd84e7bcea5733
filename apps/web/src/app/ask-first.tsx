import { Suspense, useEffect, useState } from 'react';
import type { Question } from './asking.tsx';
import { notifications } from '@mantine/notifications';
import { Contained } from './contained.tsx';
import { failureOf } from './failures.ts';
import { late } from './late.tsx';

const Asking = late(() => import('./asking.tsx'));
const begun = new EventTarget();

/** Asks whether it is meant, in a dialog whose code is loaded for the first question. */
export function askFirst(question: Question): void {
  begun.dispatchEvent(new Event('asked'));
  import('./asking.tsx').then(
    ({ ask }) => ask(question),
    (error: unknown) => notifications.show({ ...failureOf(error), color: 'red' }),
  );
}

/** Where such questions appear. */
export function Questions() {
  const [isUsed, setIsUsed] = useState(false);
  useEffect(() => {
    const use = () => setIsUsed(true);
    begun.addEventListener('asked', use);
    return () => begun.removeEventListener('asked', use);
  }, []);
  return (
    <Contained>
      <Suspense fallback={null}>{isUsed && <Asking />}</Suspense>
    </Contained>
  );
}
