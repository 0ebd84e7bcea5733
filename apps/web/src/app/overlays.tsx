import { notifications, useNotifications } from '@mantine/notifications';
import { Component, type ReactNode, Suspense, useEffect, useState } from 'react';
import type { ConfirmDialogOptions } from './confirm-dialogs.tsx';
import { describeFailure } from './failures.ts';
import { createLazyComponentWithImportRetry } from './lazy.tsx';

const ConfirmDialogs = createLazyComponentWithImportRetry(() => import('./confirm-dialogs.tsx'));
const confirmationRequestEvents = new EventTarget();

/** Opens a dialog that asks the user to confirm an action. The code of the dialog is loaded for the first question. */
export function confirmAction(question: ConfirmDialogOptions): void {
  confirmationRequestEvents.dispatchEvent(new Event('asked'));
  import('./confirm-dialogs.tsx').then(
    ({ openConfirmDialog }) => openConfirmDialog(question),
    (error: unknown) => notifications.show({ ...describeFailure(error), color: 'red' }),
  );
}

/** Renders the confirmation dialogs that `confirmAction` opens. */
export function ConfirmDialogArea() {
  const [isUsed, setIsUsed] = useState(false);
  useEffect(() => {
    const use = () => setIsUsed(true);
    confirmationRequestEvents.addEventListener('asked', use);
    return () => confirmationRequestEvents.removeEventListener('asked', use);
  }, []);
  return (
    <RetryingBoundary>
      <Suspense fallback={null}>{isUsed && <ConfirmDialogs />}</Suspense>
    </RetryingBoundary>
  );
}

const importNotificationsModule = () => import('./notifications.tsx');
const LazyNotifications = createLazyComponentWithImportRetry(importNotificationsModule);
/** Milliseconds before the code of notifications is loaded. The delay lets the page load first. */
const NOTIFICATIONS_PRELOAD_DELAY_MS = 3_000;

/**
 * Renders the notifications. Their code is loaded before the first notification, because a notification about a lost
 * connection could not load it.
 */
export function NotificationArea() {
  const { notifications } = useNotifications();
  const [isUsed, setIsUsed] = useState(false);
  if (notifications.length > 0 && !isUsed) setIsUsed(true);
  useEffect(() => {
    const timer = setTimeout(
      () => void importNotificationsModule().catch(() => undefined),
      NOTIFICATIONS_PRELOAD_DELAY_MS,
    );
    return () => clearTimeout(timer);
  }, []);
  return (
    <RetryingBoundary>
      <Suspense fallback={null}>{isUsed && <LazyNotifications position="bottom-right" />}</Suspense>
    </RetryingBoundary>
  );
}

/** Milliseconds until a component that failed to render is rendered again. */
const RENDER_RETRY_DELAY_MS = 5_000;

/**
 * Renders a component that is not part of a page. If the component fails, for example because its code cannot be
 * loaded, the page stays visible and the component is rendered again later.
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
