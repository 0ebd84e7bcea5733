import { Component, type ReactNode } from 'react';

/** Until what failed is shown anew. */
const AGAIN_MS = 5_000;

/** A part beside the pages: where it fails, as when its code cannot be loaded, the pages stay, and it is tried again. */
export class Contained extends Component<{ readonly children: ReactNode }, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };
  private timer: ReturnType<typeof setTimeout> | undefined;

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override componentDidCatch(): void {
    this.timer = setTimeout(() => this.setState({ hasFailed: false }), AGAIN_MS);
  }

  override componentWillUnmount(): void {
    clearTimeout(this.timer);
  }

  override render(): ReactNode {
    return this.state.hasFailed ? null : this.props.children;
  }
}
