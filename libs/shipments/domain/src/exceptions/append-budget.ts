import type { ShipmentEventBody } from '../events/stored-events.ts';

/** Most bytes of exceptions that one command opens and updates by rule. */
const RULE_BYTES = 400_000;
/** The same, together with what the command itself stores: one append holds about 1 MB. */
const COMMAND_BYTES = 900_000;
/** Up to here, the size of the command itself does not matter. */
const FEW_BYTES = 50_000;

/** How many exceptions a command may open and update by rule. Those beyond wait for the next check. */
export class AppendBudget {
  private ruleBytes = 0;
  private commandBytes: number | undefined;

  /** @param command the events of the command itself */
  constructor(private readonly command: readonly ShipmentEventBody[]) {}

  /** Takes room for the event; returns false if there is not enough. */
  take({ data }: ShipmentEventBody): boolean {
    const bytes = this.ruleBytes + utf8Bytes(data);
    if (bytes > FEW_BYTES) {
      this.commandBytes ??= this.command.reduce((sum, event) => sum + utf8Bytes(event.data), 0);
      if (bytes > Math.min(RULE_BYTES, COMMAND_BYTES - this.commandBytes)) return false;
    }
    this.ruleBytes = bytes;
    return true;
  }
}

/** Length of the JSON in UTF-8. */
function utf8Bytes(data: object): number {
  const json = JSON.stringify(data);
  let bytes = json.length;
  for (let index = 0; index < json.length; index += 1) {
    const unit = json.charCodeAt(index);
    if (unit < 0x80) continue;
    // A surrogate is half of a character of four bytes.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}
