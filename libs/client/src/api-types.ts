import type { operations } from './generated/api.ts';
import type { OPERATIONS } from './generated/operations.ts';

/** An operation of the API, as its description calls it. */
export type OperationId = keyof typeof OPERATIONS & keyof operations;

type Parameters<Id extends OperationId> = operations[Id]['parameters'];
type Given<T> = Exclude<T, undefined>;
type AnswersOf<Id extends OperationId> = operations[Id]['responses'];
type JsonOf<Answer> = Answer extends { content: { 'application/json': infer Json } } ? Json : never;
/** Filters of several values take an array, too: it is sent separated by commas. */
type OneOrMore<Value> = Value extends readonly (infer One)[]
  ? One | readonly One[]
  : Value extends string
    ? Value | readonly Value[]
    : Value;

/** What the operation answers. */
export type AnswerOf<Id extends OperationId> = JsonOf<AnswersOf<Id>[keyof AnswersOf<Id>]>;

/** What the operation takes as JSON. */
export type BodyOf<Id extends OperationId> =
  Given<operations[Id]['requestBody']> extends { content: { 'application/json': infer Json } } ? Json : never;

/** Filters, order and bounds of a list. */
export type QueryOf<Id extends OperationId> = {
  readonly [Name in keyof Given<Parameters<Id>['query']>]: OneOrMore<Given<Parameters<Id>['query']>[Name]>;
};

/** One item of a list. */
export type ItemOf<Id extends OperationId> = AnswerOf<Id> extends { data: (infer Item)[] } ? Item : never;
