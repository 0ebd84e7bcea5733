import type { CountOptions, Filter, FilterCondition, IndexSpec, Query, Scalar, Scan } from '@tracking/ports';
import { holds, type StoredField } from '@tracking/testing';
import type { Listed } from '../src/shipments/list-plan.ts';
import type { ShipmentRow } from '../src/shipments/shipment-rows.ts';
import { shipmentsModel } from '../src/shipments/shipment-rows.ts';

type ListedRows = Listed['rows'];

/** Rows in memory with the indexes of the read model, each an order of its entries; counts what is looked at. */
export class CountedRows implements ListedRows {
  visits = 0;
  readonly used = new Set<string>();

  private readonly told = new Set<string>();
  private readonly ranges = new Map<string, readonly ShipmentRow[]>();

  constructor(private readonly rows: readonly ShipmentRow[]) {}

  find(query: Query): Promise<readonly ShipmentRow[]> {
    const entries = this.entries(query);
    this.visits += entries.length;
    const found = entries.filter((row) => matches(row, query.filter) && isAfter(row, query));
    return Promise.resolve(found.slice(0, query.limit));
  }

  count(filter: Filter, { atMost = Infinity, index }: CountOptions = {}): Promise<number> {
    const counted = this.entries({ filter, limit: 0, ...(index !== undefined && { index }) }).slice(0, atMost);
    const key = JSON.stringify(filter);
    if (!this.told.has(key) && !counted.every((row) => matches(row, filter))) {
      throw new Error('the index alone does not tell');
    }
    this.told.add(key);
    this.visits += counted.length;
    return Promise.resolve(counted.length);
  }

  scan(query: Scan) {
    const { filter, sort, visit, limit, index } = query;
    const { fields } = this.indexNamed(index);
    const from = fields.indexOf(sort.fields[0] ?? '');
    const isInOrder = sort.fields.every((field, at) => fields[from + at] === field);
    const isRange = fields.slice(0, from).every((field) => isOne(leading(filter[field])));
    if (from < 0 || !isInOrder || !isRange) throw new Error(`${index} does not hold this in order`);
    const rest = this.entries(query).filter((entry) => isAfter(entry, query));
    const documents: ShipmentRow[] = [];
    let visited = 0;
    for (const row of rest) {
      if (visited === visit || documents.length === limit) break;
      visited += 1;
      if (matches(row, filter)) documents.push(row);
    }
    this.visits += visited;
    const last = rest[visited - 1];
    return Promise.resolve({
      documents,
      next: visited < rest.length && last !== undefined ? valuesOf(last, sort.fields) : undefined,
    });
  }

  /** The entries of the index within its range: what it compares with one value, and bounds of the next field. */
  private entries({ filter, index, sort }: Query): readonly ShipmentRow[] {
    if (index === undefined) throw new Error('a query of a list names its index');
    this.used.add(index);
    const range: Record<string, FilterCondition> = {};
    for (const field of this.indexNamed(index).fields) {
      const condition = leading(filter[field]);
      if (condition === undefined) break;
      range[field] = condition;
      if (!isOne(condition)) break;
    }
    const key = JSON.stringify([range, sort]);
    const known = this.ranges.get(key) ?? sorted(this.rowsIn(range), sort);
    this.ranges.set(key, known);
    return known;
  }

  private rowsIn(range: Filter): readonly ShipmentRow[] {
    const key = JSON.stringify(range);
    const known = this.ranges.get(key) ?? this.rows.filter((row) => matches(row, range));
    this.ranges.set(key, known);
    return known;
  }

  private indexNamed(name: string): IndexSpec {
    const found = shipmentsModel.indexes.find((index) => index.name === name);
    if (found === undefined) throw new Error(`no index ${name}`);
    return found;
  }
}

export function matches(row: ShipmentRow, filter: Filter): boolean {
  const { terms: ofTerms, ...others } = filter;
  const ofOthers = Object.entries(others).every(([field, condition]) => holds(valueOf(row, field), condition));
  return ofOthers && (ofTerms === undefined || hasTerms(row, ofTerms));
}

/** As `holds`, but quickly. */
function hasTerms({ terms }: ShipmentRow, condition: FilterCondition): boolean {
  if (typeof condition !== 'object' || condition === null) return terms.includes(String(condition));
  if ('all' in condition) return condition.all.every((one) => hasTerms({ terms } as ShipmentRow, one));
  if (!('gte' in condition && 'lt' in condition)) return holds(terms, condition);
  const { gte, lt } = condition;
  return terms.some((one) => one >= String(gte) && one < String(lt));
}

/** By the first of several elements an index leads. */
function leading(condition: FilterCondition | undefined): FilterCondition | undefined {
  return typeof condition === 'object' && condition !== null && 'all' in condition ? condition.all[0] : condition;
}

function isOne(condition: FilterCondition | undefined): boolean {
  return condition === null || (condition !== undefined && typeof condition !== 'object');
}

function sorted(rows: readonly ShipmentRow[], sort: Query['sort']): readonly ShipmentRow[] {
  if (sort === undefined) return rows;
  const way = sort.descending === true ? -1 : 1;
  return rows
    .filter((row) => sort.fields.every((field) => valueOf(row, field) !== null))
    .sort((one, other) => way * compare(valuesOf(one, sort.fields), valuesOf(other, sort.fields)));
}

function isAfter(row: ShipmentRow, { sort, after }: Query): boolean {
  if (after === undefined || sort === undefined) return true;
  const order = compare(valuesOf(row, sort.fields), after);
  return sort.descending === true ? order < 0 : order > 0;
}

function valuesOf(row: ShipmentRow, fields: readonly string[]): readonly Scalar[] {
  return fields.map((field) => valueOf(row, field) as Scalar);
}

function valueOf(row: ShipmentRow, field: string): StoredField | undefined {
  return row[field as keyof ShipmentRow] as StoredField | undefined;
}

function compare(one: readonly Scalar[], other: readonly Scalar[]): number {
  const at = one.findIndex((value, place) => value !== other[place]);
  if (at < 0) return 0;
  if (one[at] === null || other[at] === null) throw new Error('null is no sort key');
  return String(one[at]) < String(other[at]) ? -1 : 1;
}
