import { ApiSchema } from '@nestjs/swagger';
import { CalendarDate, fault, field, text, textUpTo } from '@tracking/http';
import type { FieldCheck } from '@tracking/http';
import { normaliseCode } from '@tracking/shipments';

const SIZE_TYPE = /^[0-9A-Z]{4}$/;
const MAX_SEAL = 100;

/** As ISO 6346 writes it, `45G1`; what the trade says instead, as `40HC`, has the same form. */
const sizeType: FieldCheck = (value, param) => {
  const faults = text(value, param);
  if (faults.length > 0 || SIZE_TYPE.test(String(value))) return faults;
  return fault(param, 'invalid_value', 'Must be four letters or digits, as 45G1 of ISO 6346.');
};

/** What is left out stays, null clears. */
@ApiSchema({ name: 'ContainerPatch' })
export class PatchContainerDto {
  @field(
    sizeType,
    { description: 'Size and type: four letters or digits, as ISO 6346 writes them.', example: '45G1' },
    { type: String, pattern: SIZE_TYPE.source, nullable: true },
    { normalise: (value) => (typeof value === 'string' ? normaliseCode(value) : value) },
  )
  size_type?: string | null;

  @field(
    textUpTo(MAX_SEAL),
    { description: 'Seal, or several of them.', example: 'ML-CN4831977' },
    { type: String, minLength: 1, maxLength: MAX_SEAL, nullable: true },
  )
  seal_number?: string | null;

  @CalendarDate({ description: 'Last day without demurrage, local to the place.', example: '2026-12-24' })
  last_free_day?: string | null;

  @CalendarDate({ description: 'Day by which it must be back empty, local to the place.', example: '2027-01-04' })
  empty_return_by?: string | null;
}
