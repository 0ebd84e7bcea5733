import type {
  Collection,
  CountOptions,
  Document,
  Filter,
  FilterCondition,
  IndexSpec,
  Query,
  Scalar,
  IndexScanQuery,
} from '@tracking/ports';
import { matchesCondition, type StoredField } from '@tracking/testing';

/** In-memory rows with the indexes of their read model. They count the index entries that queries visit. */
export class VisitCountingCollection<R extends Document> implements Pick<
  Collection<R>,
  'getMany' | 'find' | 'findWithinByteLimit' | 'count' | 'scan'
> {
  visits = 0;
  readonly used = new Set<string>();

  private readonly told = new Set<string>();
  private readonly ranges = new Map<string, readonly R[]>();

  constructor(
    private readonly rows: readonly R[],
    private readonly indexes: readonly IndexSpec[],
  ) {}

  getMany(ids: readonly string[]): Promise<readonly R[]> {
    this.visits += ids.length;
    return Promise.resolve(this.rows.filter(({ id }) => ids.includes(id)));
  }

  find(query: Query): Promise<readonly R[]> {
    const entries = this.findIndexEntries(query);
    this.visits += entries.length;
    const fits = convertFilterToPredicate(query.filter);
    const found = entries.filter((row) => fits(row) && isRowAfterPageStart(row, query));
    return Promise.resolve(found.slice(0, query.limit));
  }

  async findWithinByteLimit(query: Query, maxBytes: number) {
    const found = await this.find(query);
    const documents = takeWithinBytes(found, maxBytes);
    return { documents, isCut: documents.length < found.length };
  }

  count(filter: Filter, { atMost = Infinity, index }: CountOptions = {}): Promise<number> {
    const counted = this.findIndexEntries({ filter, limit: 0, ...(index !== undefined && { index }) }).slice(0, atMost);
    const key = JSON.stringify(filter);
    if (!this.told.has(key) && !counted.every(convertFilterToPredicate(filter))) {
      throw new Error('rows cannot be counted, because the index does not contain all fields of the filter');
    }
    this.told.add(key);
    this.visits += counted.length;
    return Promise.resolve(counted.length);
  }

  scan(query: IndexScanQuery) {
    const { filter, sort, visit, limit, index, maxBytes = Infinity } = query;
    const { fields } = this.getIndexByName(index);
    const from = fields.indexOf(sort.fields[0] ?? '');
    const isInOrder = sort.fields.every((field, at) => fields[from + at] === field);
    const isRange = fields.slice(0, from).every((field) => isScalar(getLeadingConditionElement(filter[field])));
    if (from < 0 || !isInOrder || !isRange)
      throw new Error(`the scan needs an index in sort order, but ${index} has another order`);
    const rest = this.findIndexEntries(query).filter((entry) => isRowAfterPageStart(entry, query));
    const fits = convertFilterToPredicate(filter);
    const documents: R[] = [];
    let visited = 0;
    let isCut = false;
    for (const row of rest) {
      if (visited === visit || documents.length === limit) break;
      isCut = fits(row) && takeWithinBytes([...documents, row], maxBytes).length <= documents.length;
      if (isCut) break;
      visited += 1;
      if (fits(row)) documents.push(row);
    }
    this.visits += visited;
    const last = rest[visited - 1];
    return Promise.resolve({
      documents,
      next: visited < rest.length && last !== undefined ? readRowValues(last, sort.fields) : undefined,
      isCut,
    });
  }

  /** Returns the index entries in the range that equal values and bounds of the next field select. */
  private findIndexEntries({ filter, index, sort }: Query): readonly R[] {
    if (index === undefined) throw new Error('a list query must name its index');
    this.used.add(index);
    const range: Record<string, FilterCondition> = {};
    for (const field of this.getIndexByName(index).fields) {
      const condition = getLeadingConditionElement(filter[field]);
      if (condition === undefined) break;
      range[field] = condition;
      if (!isScalar(condition)) break;
    }
    const key = JSON.stringify([range, sort]);
    const known = this.ranges.get(key) ?? sortRows(this.listRowsInRange(range), sort);
    this.ranges.set(key, known);
    return known;
  }

  /** Narrows the range field by field, so that entries with the same beginning are searched only once. */
  private listRowsInRange(range: Filter): readonly R[] {
    const conditions = Object.entries(range);
    const last = conditions.pop();
    if (last === undefined) return this.rows;
    const key = JSON.stringify(range);
    const known =
      this.ranges.get(key) ??
      this.listRowsInRange(Object.fromEntries(conditions)).filter(convertFilterToPredicate({ [last[0]]: last[1] }));
    this.ranges.set(key, known);
    return known;
  }

  private getIndexByName(name: string): IndexSpec {
    const found = this.indexes.find((index) => index.name === name);
    if (found === undefined) throw new Error(`no index ${name}`);
    return found;
  }
}

function convertFilterToPredicate(filter: Filter): (row: Document) => boolean {
  const conditions = Object.entries(filter);
  return (row) =>
    conditions.every(([field, condition]) => matchesConditionFast(getFieldValueOfRow(row, field), condition));
}

/** Fast version of `matchesCondition` for scalar values and lists. */
function matchesConditionFast(value: StoredField | undefined, condition: FilterCondition): boolean {
  const isValue = typeof condition !== 'object' || condition === null;
  if (!isList(value)) return isValue ? value === condition : matchesCondition(value, condition);
  if (isValue) return value.includes(condition);
  if ('all' in condition) return condition.all.every((one) => matchesConditionFast(value, one));
  if (!('gte' in condition && 'lt' in condition)) return matchesCondition(value, condition);
  const { gte, lt } = condition;
  return value.some((one) => String(one) >= String(gte) && String(one) < String(lt));
}

function isList(value: StoredField | undefined): value is readonly Scalar[] {
  return Array.isArray(value);
}

/** Returns the element of a list condition that selects the index range: its first element. */
function getLeadingConditionElement(condition: FilterCondition | undefined): FilterCondition | undefined {
  return typeof condition === 'object' && condition !== null && 'all' in condition ? condition.all[0] : condition;
}

function isScalar(condition: FilterCondition | undefined): boolean {
  return condition === null || (condition !== undefined && typeof condition !== 'object');
}

function sortRows<R extends Document>(rows: readonly R[], sort: Query['sort']): readonly R[] {
  if (sort === undefined) return rows;
  const way = sort.descending === true ? -1 : 1;
  return rows
    .filter((row) => sort.fields.every((field) => getFieldValueOfRow(row, field) !== null))
    .map((row) => ({ row, values: readRowValues(row, sort.fields) }))
    .sort((one, other) => way * compareListsOfValues(one.values, other.values))
    .map(({ row }) => row);
}

function isRowAfterPageStart(row: Document, { sort, after }: Query): boolean {
  if (after === undefined || sort === undefined) return true;
  const order = compareListsOfValues(readRowValues(row, sort.fields), after);
  return sort.descending === true ? order < 0 : order > 0;
}

function readRowValues(row: Document, fields: readonly string[]): readonly Scalar[] {
  return fields.map((field) => getFieldValueOfRow(row, field) as Scalar);
}

function getFieldValueOfRow(row: Document, field: string): StoredField | undefined {
  return row[field as keyof Document] as StoredField | undefined;
}

function compareListsOfValues(one: readonly Scalar[], other: readonly Scalar[]): number {
  const at = one.findIndex((value, place) => value !== other[place]);
  if (at < 0) return 0;
  if (one[at] === null || other[at] === null) throw new Error('null cannot be a sort value');
  return String(one[at]) < String(other[at]) ? -1 : 1;
}

/** Returns as many leading rows as fit within the bytes of JSON, at least one. */
function takeWithinBytes<R>(rows: readonly R[], maxBytes: number): readonly R[] {
  if (maxBytes === Infinity) return rows;
  let left = maxBytes;
  const beyond = rows.findIndex((row, index) => (left -= JSON.stringify(row).length) < 0 && index > 0);
  return beyond === -1 ? rows : rows.slice(0, beyond);
}
