import type { FieldError, LegFields, Party, Places, ShipmentFields, Warning } from '@tracking/contracts';
import {
  type KnownMode,
  hasValidCheckDigit,
  isCarrierCode,
  isContainerNumber,
  isPortCode,
  isUnknownPort,
  normaliseCode,
} from './references.ts';

export const SHIPMENT_LIMITS = {
  containers: 200,
  legs: 50,
  references: 50,
  metadata: 50,
  milestones: 5_000,
  exceptions: 500,
} as const;

type Nullable<T> = { readonly [Key in keyof T]?: T[Key] | null };
/** Shipment fields as a request holds them: of the right types, but as written; what is absent is not sent, `null` clears. */
export type ShipmentInput = Omit<Nullable<ShipmentFields>, 'shipper' | 'consignee' | 'legs'> & {
  readonly shipper?: Nullable<Party> | null;
  readonly consignee?: Nullable<Party> | null;
  readonly legs?: readonly Nullable<LegFields>[] | null;
};

export interface CheckedShipment {
  /** The fields that were sent, normalised. Only to be used without errors. */
  readonly fields: Partial<ShipmentFields>;
  readonly errors: readonly FieldError[];
  readonly warnings: readonly Warning[];
}

/**
 * Checks and normalises what is more than a type: containers, carriers, ports, blank references, limits.
 * @param mode the shipment's; undefined where it is not known, then everything that any mode accepts passes
 * @param strict a wrong check digit is an error instead of a warning
 */
export function checkShipmentFields(
  input: ShipmentInput,
  mode: KnownMode,
  places: Places,
  strict = false,
): CheckedShipment {
  const check = new Check(places, strict);
  const fields: { -readonly [Key in keyof ShipmentFields]?: ShipmentFields[Key] } = {};
  for (const name of ['external_id', 'house_bill', 'master_bill', 'booking_number'] as const) {
    if (input[name] !== undefined) fields[name] = check.reference(name, input[name]);
  }
  for (const name of ['mode', 'load_type', 'etd', 'eta'] as const) {
    if (input[name] !== undefined) Object.assign(fields, { [name]: input[name] });
  }
  for (const name of ['shipper', 'consignee'] as const) {
    if (input[name] !== undefined) fields[name] = party(input[name]);
  }
  if (input.container_numbers !== undefined) {
    fields.container_numbers = check.containers(input.container_numbers ?? [], mode);
  }
  if (input.carrier_scac !== undefined) fields.carrier_scac = check.carrier('carrier_scac', input.carrier_scac, mode);
  for (const name of ['origin_port', 'destination_port'] as const) {
    if (input[name] !== undefined) fields[name] = check.port(name, input[name], mode);
  }
  if (input.references !== undefined) {
    fields.references = (input.references ?? []).map(({ type, value }) => ({ type, value }));
    check.limit('references', fields.references.length, SHIPMENT_LIMITS.references);
  }
  if (input.metadata !== undefined) {
    const names = Object.keys(input.metadata ?? {});
    check.limit('metadata', names.length, SHIPMENT_LIMITS.metadata);
    fields.metadata = names.length === 0 ? null : input.metadata;
  }
  if (input.legs !== undefined) {
    check.limit('legs', input.legs?.length ?? 0, SHIPMENT_LIMITS.legs);
    fields.legs = (input.legs ?? []).map((leg, index) => check.leg(`legs[${index}]`, leg, mode));
  }
  check.order('eta', fields.etd, fields.eta);
  return { fields, errors: check.errors, warnings: check.warnings };
}

/** The warning of `eta` before `etd`, when both are there. */
export function etaBeforeEtd(
  param: string,
  etd: string | null | undefined,
  eta: string | null | undefined,
): Warning | undefined {
  if (etd == null || eta == null || eta >= etd) return undefined;
  return { code: 'eta_before_etd', param, message: 'The estimated arrival lies before the estimated departure.' };
}

function party(input: Nullable<Party> | null): Party | null {
  if (input?.name == null && input?.external_id == null) return null;
  return { name: input.name ?? null, external_id: input.external_id ?? null };
}

class Check {
  readonly errors: FieldError[] = [];
  readonly warnings: Warning[] = [];

  constructor(
    private readonly places: Places,
    private readonly strict: boolean,
  ) {}

  limit(param: string, count: number, most: number): void {
    if (count <= most) return;
    this.errors.push({ param, code: 'limit_exceeded', message: `At most ${most} are possible; there are ${count}.` });
  }

  reference(param: string, value: string | null): string | null {
    if (value?.trim() === '') {
      this.errors.push({ param, code: 'invalid_value', message: 'Must not be blank; null clears it.' });
    }
    return value;
  }

  containers(numbers: readonly string[], mode: KnownMode): readonly string[] {
    const kept = new Set<string>();
    numbers.forEach((text, index) => {
      const number = normaliseCode(text);
      if (kept.has(number)) return;
      kept.add(number);
      const param = `container_numbers[${index}]`;
      if (!isContainerNumber(number, mode)) {
        const message = 'Must be a container number of ISO 6346 as MSCU1234566, or for air a ULD number as AKE12345LH.';
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
    this.limit('container_numbers', kept.size, SHIPMENT_LIMITS.containers);
    return [...kept];
  }

  carrier(param: string, text: string | null, mode: KnownMode): string | null {
    if (text === null) return null;
    const code = normaliseCode(text);
    if (!isCarrierCode(code, mode)) {
      const message = 'Must be a SCAC of two to four letters, or for air and courier an IATA airline code.';
      this.errors.push({ param, code: 'invalid_scac', message });
    }
    return code;
  }

  port(param: string, text: string | null, mode: KnownMode): string | null {
    if (text === null) return null;
    const code = normaliseCode(text);
    if (!isPortCode(code, mode)) {
      const message = 'Must be a UN/LOCODE as CNSHA, or for air, courier and multimodal an IATA airport code as FRA.';
      this.errors.push({ param, code: 'invalid_port', message });
    } else if (isUnknownPort(code, this.places)) {
      this.warnings.push({ param, code: 'unknown_port', message: `${code} is not a known UN/LOCODE.` });
    }
    return code;
  }

  leg(param: string, leg: Nullable<LegFields>, shipmentMode: KnownMode): LegFields {
    const mode = leg.mode ?? shipmentMode;
    this.order(`${param}.eta`, leg.etd, leg.eta);
    return {
      mode: leg.mode ?? null,
      carrier_scac: this.carrier(`${param}.carrier_scac`, leg.carrier_scac ?? null, mode),
      vessel: leg.vessel ?? null,
      voyage: leg.voyage ?? null,
      origin_port: this.port(`${param}.origin_port`, leg.origin_port ?? null, mode),
      destination_port: this.port(`${param}.destination_port`, leg.destination_port ?? null, mode),
      etd: leg.etd ?? null,
      eta: leg.eta ?? null,
    };
  }

  order(param: string, etd: string | null | undefined, eta: string | null | undefined): void {
    const warning = etaBeforeEtd(param, etd, eta);
    if (warning !== undefined) this.warnings.push(warning);
  }
}
