import { notifications, useNotifications } from '@mantine/notifications';
import { Component, type ReactNode, Suspense, useEffect, useState } from 'react';
import type { ConfirmDialogOptions } from './confirm-dialogs.tsx';
import { describeFailure } from './failures.ts';
import { lazyWithRetry } from './lazy.tsx';

const ConfirmDialogs = lazyWithRetry(() => import('./confirm-dialogs.tsx'));
const confirmationRequests = new EventTarget();

/** Asks for confirmation in a dialog. The dialog's code is loaded for the first question. */
export function confirmAction(question: ConfirmDialogOptions): void {
  confirmationRequests.dispatchEvent(new Event('asked'));
  import('./confirm-dialogs.tsx').then(
    ({ openConfirmDialog }) => openConfirmDialog(question),
    (error: unknown) => notifications.show({ ...describeFailure(error), color: 'red' }),
  );
}

/** Renders the dialogs that `confirmAction` opens. */
export function ConfirmDialogArea() {
  const [isUsed, setIsUsed] = useState(false);
  useEffect(() => {
    const use = () => setIsUsed(true);
    confirmationRequests.addEventListener('asked', use);
    return () => confirmationRequests.removeEventListener('asked', use);
  }, []);
  return (
    <RetryingBoundary>
      <Suspense fallback={null}>{isUsed && <ConfirmDialogs />}</Suspense>
    </RetryingBoundary>
  );
}

const loadNotifications = () => import('./notifications.tsx');
const LazyNotifications = lazyWithRetry(loadNotifications);
/** Delay before loading the code of notifications, so that the page itself loads first. */
const NOTIFICATIONS_PRELOAD_DELAY_MS = 3_000;

/** Renders notifications. Their code is loaded early because a notification may have to report a lost connection. */
export function NotificationArea() {
  const { notifications } = useNotifications();
  const [isUsed, setIsUsed] = useState(false);
  if (notifications.length > 0 && !isUsed) setIsUsed(true);
  useEffect(() => {
    const timer = setTimeout(() => void loadNotifications().catch(() => undefined), NOTIFICATIONS_PRELOAD_DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <RetryingBoundary>
      <Suspense fallback={null}>{isUsed && <LazyNotifications position="bottom-right" />}</Suspense>
    </RetryingBoundary>
  );
}

/** Milliseconds until a failed component is rendered again. */
const RENDER_RETRY_DELAY_MS = 5_000;

/**
 * Renders a component outside the pages. If the component fails, for example because its code cannot be loaded, the
 * pages stay and the component is rendered again later.
 */
class RetryingBoundary extends Component<{ readonly children: ReactNode }, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };
  private timer: ReturnType<typeof setTimeout> | undefined;

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override componentDidCatch(): void {
    this.timer = setTimeout(() => this.setState({ hasFailed: false }), RENDER_RETRY_DELAY_MS);
  }

  override componentWillUnmount(): void {
    clearTimeout(this.timer);
  }

  override render(): ReactNode {
    return this.state.hasFailed ? null : this.props.children;
  }
}
