const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Whether it is a `traceparent` of version 00. Source: W3C Trace Context, 3.2. */
export function isTraceparent(text: string): boolean {
  return TRACEPARENT.test(text);
}

/** The trace that a `traceparent` belongs to: 32 hexadecimal digits. Undefined where it is none. */
export function traceIdOf(traceparent: unknown): string | undefined {
  return typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined;
}
