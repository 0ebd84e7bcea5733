const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;

export interface Trace {
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** 2 hexadecimal digits. */
  readonly flags: string;
}

/** The trace that a `traceparent` belongs to; undefined where it is none of version 00. Source: W3C Trace Context, 3.2. */
export function traceOf(traceparent: unknown): Trace | undefined {
  const [, id, flags] = (typeof traceparent === 'string' && TRACEPARENT.exec(traceparent)) || [];
  return id === undefined || flags === undefined ? undefined : { id, flags };
}
