import type { EventEnvelope } from '@tracking/contracts';

/**
 * An event as its stream tells it (https://html.spec.whatwg.org/multipage/server-sent-events.html): its id, by which a
 * client goes on after it, and the envelope. Without an `event:` field, which would hide it from listeners of `message`.
 */
export function eventText(envelope: EventEnvelope): Buffer {
  // JSON escapes line breaks.
  return Buffer.from(`id: ${envelope.id}\ndata: ${JSON.stringify(envelope)}\n\n`);
}

/** Tells an id without an event: a client that loses its connection now goes on after that one. */
export function idText(id: string): string {
  return `id: ${id}\n\n`;
}

/** After how many milliseconds the client is to come again, should the connection break. */
export function retryText(ms: number): string {
  return `retry: ${Math.round(ms)}\n\n`;
}

/** A comment: whoever reads it knows that the connection is alive. */
export const HEARTBEAT = ':\n\n';
