import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiProperty, ApiResponse, ApiSchema, ApiTags } from '@nestjs/swagger';
import type { Page, Place } from '@tracking/contracts';
import { Limit, Operation, QueryList, QueryText, text } from '@tracking/http';
import { PLACES } from './dependencies.ts';
import type { ShipmentsHttpDependencies } from './dependencies.ts';

const MAX_CODES = 200;
const DEFAULT_LIMIT = 20;

@ApiSchema({ name: 'Place' })
class PlaceResource implements Place {
  @ApiProperty({ description: 'UN/LOCODE, or IATA code of an airport.', example: 'NLRTM' })
  readonly code!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Its name, where that is known.', example: 'Rotterdam' })
  readonly name!: string | null;
  @ApiProperty({ description: 'ISO 3166-1 alpha-2.', example: 'NL' })
  readonly country!: string;
  @ApiProperty({ type: Number, nullable: true, description: 'Degrees north.', example: 51.95 })
  readonly latitude!: number | null;
  @ApiProperty({ type: Number, nullable: true, description: 'Degrees east.', example: 4.05 })
  readonly longitude!: number | null;
  @ApiProperty({ type: String, nullable: true, description: 'IANA time zone.', example: 'Europe/Amsterdam' })
  readonly timezone!: string | null;
}

@ApiSchema({ name: 'PlaceList' })
class PlaceListResource implements Page<Place> {
  @ApiProperty({ type: [PlaceResource], description: 'The best ones first, or in the order of the codes.' })
  readonly data!: PlaceResource[];
  @ApiProperty({ type: 'null', description: 'Always null: who looks for more says more.' } as object)
  readonly next_cursor!: null;
  @ApiProperty({ description: 'Always false.', enum: [false] })
  readonly has_more!: boolean;
}

/** Selects places by words of their names, or by their codes. */
class ListPlacesDto {
  @QueryText({ description: 'Each word begins a word of the name, or the code.', example: 'rotter' })
  q?: string;

  @QueryList(text, MAX_CODES, {
    description: `Those with these codes, separated by commas; ${MAX_CODES} at most.`,
    example: ['NLRTM', 'CNSHA'],
  })
  code?: string;

  @Limit()
  limit?: string;
}

@ApiTags('Places')
@Controller('v1/places')
export class PlacesController {
  constructor(@Inject(PLACES) private readonly places: ShipmentsHttpDependencies['places']) {}

  @Get()
  @Operation('listPlaces', {
    summary: 'Find ports and airports by name or code',
    description: 'Those that the service knows by name; other codes may be used all the same.',
    query: ListPlacesDto,
  })
  @ApiResponse({ status: 200, description: 'What was found.', type: PlaceListResource })
  list(@Query() { q, code, limit }: ListPlacesDto): Page<Place> {
    const data =
      code === undefined ? this.places.search(q ?? '', Number(limit ?? DEFAULT_LIMIT)) : this.withCodes(code);
    return { data, next_cursor: null, has_more: false };
  }

  private withCodes(list: string): readonly Place[] {
    const codes = new Set(list.toUpperCase().split(','));
    return [...codes].flatMap((code) => this.places.find(code) ?? []);
  }
}
