import { Cursor, Limit } from '../validation/fields.ts';

/** The query of a list without filters; those with some extend it. */
export class PageDto {
  @Limit()
  limit?: string;

  @Cursor()
  cursor?: string;
}
