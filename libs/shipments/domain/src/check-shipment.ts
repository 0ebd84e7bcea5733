import {
  EMPTY_SHIPMENT_FIELDS,
  type FieldError,
  type LegFields,
  type Party,
  type PlaceLookup,
  SHIPMENT_FIELD_NAMES,
  type ClientShipmentFields,
  type Warning,
} from '@tracking/contracts';
import {
  type KnownMode,
  hasValidCheckDigit,
  isCarrierCode,
  isContainerNumber,
  isPortCode,
  isUnknownPort,
  normaliseCode,
} from './references.ts';
import {
  getTimeZoneOfPort,
  computeMsBetweenTimesOrDays,
  type StatedTimeWithZone,
  convertStatedDateToTime,
} from './local-time.ts';
import { isBeforeEarliestDate, TIME_OUT_OF_RANGE_ERROR } from './check-milestone.ts';

export const SHIPMENT_LIMITS = {
  containers: 200,
  legs: 50,
  references: 50,
  metadata: 50,
  /** Milestones that are not superseded estimates. */
  milestones: 5_000,
  milestonesWithSuperseded: 20_000,
  exceptions: 500,
  documents: 500,
} as const;

type Nullable<T> = { readonly [Key in keyof T]?: T[Key] | null };
/**
 * Fields of a shipment as a request contains them, with correct types but not normalized. Absent fields keep their
 * value, null clears.
 */
export type ShipmentInput = Omit<Nullable<ClientShipmentFields>, 'shipper' | 'consignee' | 'legs'> & {
  readonly shipper?: Nullable<Party> | null;
  readonly consignee?: Nullable<Party> | null;
  readonly legs?: readonly Nullable<LegFields>[] | null;
};

export interface ShipmentFieldsCheckResult {
  /** The sent fields, normalized. Use them only if there are no errors. */
  readonly fields: Partial<ClientShipmentFields>;
  readonly errors: readonly FieldError[];
  readonly warnings: readonly Warning[];
}

/**
 * Checks and normalizes fields of the correct types: containers, carriers, ports, blank references, limits.
 * @param mode mode of the shipment; undefined if it is not known, so that values of any mode are accepted
 * @param strict reports a wrong check digit as an error instead of a warning
 */
export function checkShipmentFields(
  input: ShipmentInput,
  mode: KnownMode,
  places: PlaceLookup,
  strict = false,
): ShipmentFieldsCheckResult {
  const check = new ShipmentFieldsChecker(places, strict, mode);
  const fields: Record<string, unknown> = {};
  for (const name of SHIPMENT_FIELD_NAMES) {
    const value = input[name];
    if (value === undefined) continue;
    const checkField = SHIPMENT_FIELD_CHECKS[name];
    fields[name] =
      checkField === undefined ? (value ?? EMPTY_SHIPMENT_FIELDS[name]) : checkField(check, value as never, name);
  }
  const checked: Partial<ClientShipmentFields> = fields;
  check.checkScheduleTimes('', checked);
  return { fields: checked, errors: check.errors, warnings: check.warnings };
}

/** Checks of the fields with rules beyond their type. All other fields need no check. */
const SHIPMENT_FIELD_CHECKS: {
  readonly [Name in keyof ClientShipmentFields]?: (
    check: ShipmentFieldsChecker,
    value: NonNullable<ShipmentInput[Name]> | null,
    param: string,
  ) => ClientShipmentFields[Name];
} = {
  external_id: (check, value, param) => check.checkReference(param, value),
  house_bill: (check, value, param) => check.checkReference(param, value),
  master_bill: (check, value, param) => check.checkReference(param, value),
  booking_number: (check, value, param) => check.checkReference(param, value),
  shipper: (_check, value) => normaliseParty(value),
  consignee: (_check, value) => normaliseParty(value),
  container_numbers: (check, value) => check.checkContainerNumbers(value ?? []),
  carrier_scac: (check, value, param) => check.checkCarrier(param, value),
  origin_port: (check, value, param) => check.checkPortCode(param, value),
  destination_port: (check, value, param) => check.checkPortCode(param, value),
  references: (check, value, param) => {
    check.checkListEntryCount(param, value?.length ?? 0, SHIPMENT_LIMITS.references);
    return (value ?? []).map(({ type, value: text }) => ({ type, value: text }));
  },
  metadata: (check, value, param) => {
    const count = Object.keys(value ?? {}).length;
    check.checkListEntryCount(param, count, SHIPMENT_LIMITS.metadata);
    return count === 0 ? null : value;
  },
  legs: (check, value, param) => {
    check.checkListEntryCount(param, value?.length ?? 0, SHIPMENT_LIMITS.legs);
    return (value ?? []).map((leg, index) => check.checkLeg(`${param}[${index}]`, leg));
  },
};

/**
 * Returns a warning if both times are known and `eta` is before `etd`. If one of them is a day, the dates at the two
 * places are compared.
 */
export function warnIfEtaBeforeEtd(
  param: string | null,
  etd: StatedTimeWithZone,
  eta: StatedTimeWithZone,
): Warning | undefined {
  if (!(computeMsBetweenTimesOrDays(etd, eta) < 0)) return undefined;
  return { code: 'eta_before_etd', param, message: 'The estimated arrival is before the estimated departure.' };
}

function normaliseParty(input: Nullable<Party> | null): Party | null {
  if (input?.name == null && input?.external_id == null) return null;
  return { name: input.name ?? null, external_id: input.external_id ?? null };
}

class ShipmentFieldsChecker {
  readonly errors: FieldError[] = [];
  readonly warnings: Warning[] = [];

  constructor(
    private readonly places: PlaceLookup,
    private readonly strict: boolean,
    private readonly mode: KnownMode,
  ) {}

  checkListEntryCount(param: string, count: number, most: number): void {
    if (count <= most) return;
    this.errors.push({
      param,
      code: 'limit_exceeded',
      message: `Must have at most ${most} entries, but has ${count}.`,
    });
  }

  checkReference(param: string, value: string | null): string | null {
    if (value?.trim() === '') {
      this.errors.push({ param, code: 'invalid_value', message: 'Must not be blank. Use null to clear the field.' });
    }
    return value;
  }

  checkContainerNumbers(numbers: readonly string[]): readonly string[] {
    const kept = new Set<string>();
    numbers.forEach((text, index) => {
      const number = normaliseCode(text);
      if (kept.has(number)) return;
      kept.add(number);
      const param = `container_numbers[${index}]`;
      if (!isContainerNumber(number, this.mode)) {
        const message =
          'Must be a container number of ISO 6346 such as MSCU1234566, or for air a ULD number such as AKE12345LH.';
        this.errors.push({ param, code: 'invalid_container_number', message });
      } else if (hasValidCheckDigit(number) === false) {
        const found = {
          param,
          code: 'invalid_container_number',
          message: `${number} has a wrong check digit.`,
        } as const;
        if (this.strict) this.errors.push(found);
        else this.warnings.push(found);
      }
    });
    this.checkListEntryCount('container_numbers', kept.size, SHIPMENT_LIMITS.containers);
    return [...kept];
  }

  checkCarrier(param: string, text: string | null, mode = this.mode): string | null {
    if (text === null) return null;
    const code = normaliseCode(text);
    if (!isCarrierCode(code, mode)) {
      const message = 'Must be a SCAC of 2 to 4 letters, or for air and courier an IATA airline code.';
      this.errors.push({ param, code: 'invalid_scac', message });
    }
    return code;
  }

  checkPortCode(param: string, text: string | null, mode = this.mode): string | null {
    if (text === null) return null;
    const code = normaliseCode(text);
    if (!isPortCode(code, mode)) {
      const message =
        'Must be a UN/LOCODE such as CNSHA, or for air, courier and multimodal an IATA airport code such as FRA.';
      this.errors.push({ param, code: 'invalid_port', message });
    } else if (isUnknownPort(code, this.places)) {
      this.warnings.push({ param, code: 'unknown_port', message: `${code} is not a known UN/LOCODE.` });
    }
    return code;
  }

  checkLeg(param: string, leg: Nullable<LegFields>): LegFields {
    const mode = leg.mode ?? this.mode;
    this.checkScheduleTimes(`${param}.`, leg);
    return {
      mode: leg.mode ?? null,
      carrier_scac: this.checkCarrier(`${param}.carrier_scac`, leg.carrier_scac ?? null, mode),
      vessel: leg.vessel ?? null,
      voyage: leg.voyage ?? null,
      origin_port: this.checkPortCode(`${param}.origin_port`, leg.origin_port ?? null, mode),
      destination_port: this.checkPortCode(`${param}.destination_port`, leg.destination_port ?? null, mode),
      etd: leg.etd ?? null,
      eta: leg.eta ?? null,
    };
  }

  /** @param prefix prefix of the names of the fields */
  checkScheduleTimes(prefix: string, { etd, eta, origin_port, destination_port }: Nullable<Partial<LegFields>>): void {
    const atPort = (time: string | null | undefined, port: string | null | undefined): StatedTimeWithZone => {
      const zone = port == null ? null : getTimeZoneOfPort(normaliseCode(port), this.places);
      return { ...convertStatedDateToTime(time ?? null, zone), zone };
    };
    const [departure, arrival] = [atPort(etd, origin_port), atPort(eta, destination_port)];
    if (etd != null && isBeforeEarliestDate(etd))
      this.errors.push({ param: `${prefix}etd`, ...TIME_OUT_OF_RANGE_ERROR });
    if (eta != null && isBeforeEarliestDate(eta))
      this.errors.push({ param: `${prefix}eta`, ...TIME_OUT_OF_RANGE_ERROR });
    const warning = warnIfEtaBeforeEtd(`${prefix}eta`, departure, arrival);
    if (warning !== undefined) this.warnings.push(warning);
  }
}
