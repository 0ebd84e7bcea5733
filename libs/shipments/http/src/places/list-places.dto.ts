import { Limit, QueryList, QueryText, text } from '@tracking/http';

const MOST_CODES = 200;

/** By what people remember of them, or by their codes. */
export class ListPlacesDto {
  @QueryText({ description: 'Each word begins a word of the name, or the code.', example: 'rotter' })
  q?: string;

  @QueryList(text, MOST_CODES, {
    description: `Those with these codes, separated by commas; ${MOST_CODES} at most.`,
    example: ['NLRTM', 'CNSHA'],
  })
  code?: string;

  @Limit()
  limit?: string;
}
