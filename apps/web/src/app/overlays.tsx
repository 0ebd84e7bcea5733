import { notifications, useNotifications } from '@mantine/notifications';
import { Component, type ReactNode, Suspense, useEffect, useState } from 'react';
import type { Question } from './asking.tsx';
import { failureOf } from './failures.ts';
import { late } from './lazy.tsx';

const Asking = late(() => import('./asking.tsx'));
const questions = new EventTarget();

/** Asks for confirmation, in a dialog whose code is loaded for the first question. */
export function askFirst(question: Question): void {
  questions.dispatchEvent(new Event('asked'));
  import('./asking.tsx').then(
    ({ ask }) => ask(question),
    (error: unknown) => notifications.show({ ...failureOf(error), color: 'red' }),
  );
}

/** Renders the questions of `askFirst`. */
export function Questions() {
  const [isUsed, setIsUsed] = useState(false);
  useEffect(() => {
    const use = () => setIsUsed(true);
    questions.addEventListener('asked', use);
    return () => questions.removeEventListener('asked', use);
  }, []);
  return (
    <Contained>
      <Suspense fallback={null}>{isUsed && <Asking />}</Suspense>
    </Contained>
  );
}

const load = () => import('./notifications.tsx');
const Notifications = late(load);
/** Lets the page itself load first. */
const PRELOAD_AFTER_MS = 3_000;

/** Renders notifications. Their code is loaded ahead of time, since one may have to report that there is no connection. */
export function NotificationArea() {
  const { notifications } = useNotifications();
  const [isUsed, setIsUsed] = useState(false);
  if (notifications.length > 0 && !isUsed) setIsUsed(true);
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => undefined), PRELOAD_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Contained>
      <Suspense fallback={null}>{isUsed && <Notifications position="bottom-right" />}</Suspense>
    </Contained>
  );
}

/** Time until a failed part is rendered again. */
const RETRY_MS = 5_000;

/**
 * A part beside the pages. If it fails, for example because its code cannot be loaded, the pages stay and it is tried again.
 */
class Contained extends Component<{ readonly children: ReactNode }, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };
  private timer: ReturnType<typeof setTimeout> | undefined;

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override componentDidCatch(): void {
    this.timer = setTimeout(() => this.setState({ hasFailed: false }), RETRY_MS);
  }

  override componentWillUnmount(): void {
    clearTimeout(this.timer);
  }

  override render(): ReactNode {
    return this.state.hasFailed ? null : this.props.children;
  }
}
