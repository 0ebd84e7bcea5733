import type { ShipmentEventBody } from '../events/stored-events.ts';

/** Maximum bytes of the exceptions that rules open and update in one command. */
const MAX_BYTES_OF_RULE_EXCEPTIONS_PER_COMMAND = 400_000;
/** Maximum bytes of the exceptions and the command's own events together. One append can contain about 1 MB. */
const MAX_APPEND_BYTES = 900_000;
/** Maximum bytes of a command's own events that do not reduce the budget. */
const MAX_COMMAND_BYTES_OUTSIDE_BUDGET = 50_000;

/**
 * Limits the exceptions that rules open and update in one command. Exceptions beyond the limit wait for the next check.
 */
export class RuleExceptionByteBudget {
  private ruleBytes = 0;
  private commandBytes: number | undefined;

  /** @param command the events of the command itself */
  constructor(private readonly command: readonly ShipmentEventBody[]) {}

  /** Reserves bytes for the event. Returns false if not enough bytes are left. */
  reserveAppendBytesForEvent({ data }: ShipmentEventBody): boolean {
    const bytes = this.ruleBytes + countUtf8Bytes(data);
    if (bytes > MAX_COMMAND_BYTES_OUTSIDE_BUDGET) {
      this.commandBytes ??= this.command.reduce((sum, event) => sum + countUtf8Bytes(event.data), 0);
      if (bytes > Math.min(MAX_BYTES_OF_RULE_EXCEPTIONS_PER_COMMAND, MAX_APPEND_BYTES - this.commandBytes))
        return false;
    }
    this.ruleBytes = bytes;
    return true;
  }
}

/** Returns the length of the JSON in UTF-8. */
function countUtf8Bytes(data: object): number {
  const json = JSON.stringify(data);
  let bytes = json.length;
  for (let index = 0; index < json.length; index += 1) {
    const unit = json.charCodeAt(index);
    if (unit < 0x80) continue;
    // Each of the two surrogates of a four-byte character counts as two bytes.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}
