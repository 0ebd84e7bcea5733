import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiProperty, ApiResponse, ApiSchema, ApiTags } from '@nestjs/swagger';
import type { Page, Place } from '@tracking/contracts';
import {
  PageLimitProperty,
  DeclareApiOperation,
  ListQueryProperty,
  TextQueryProperty,
  checkText,
} from '@tracking/http';
import { PLACES_INJECTION_TOKEN } from './dependencies.ts';
import type { ShipmentsHttpDependencies } from './dependencies.ts';

const MAX_PLACE_CODES = 200;
const DEFAULT_PLACES_LIMIT = 20;

@ApiSchema({ name: 'Place' })
class PlaceResource implements Place {
  @ApiProperty({ description: 'UN/LOCODE or IATA airport code.', example: 'NLRTM' })
  readonly code!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Name of the place; null if unknown.',
    example: 'Rotterdam',
  })
  readonly name!: string | null;
  @ApiProperty({ description: 'ISO 3166-1 alpha-2.', example: 'NL' })
  readonly country!: string;
  @ApiProperty({ type: Number, nullable: true, description: 'Latitude in degrees north.', example: 51.95 })
  readonly latitude!: number | null;
  @ApiProperty({ type: Number, nullable: true, description: 'Longitude in degrees east.', example: 4.05 })
  readonly longitude!: number | null;
  @ApiProperty({ type: String, nullable: true, description: 'IANA time zone.', example: 'Europe/Amsterdam' })
  readonly timezone!: string | null;
}

@ApiSchema({ name: 'PlaceList' })
class PlaceListResource implements Page<Place> {
  @ApiProperty({
    type: [PlaceResource],
    description: 'Places, best match first, or in the order of the requested codes.',
  })
  readonly data!: PlaceResource[];
  @ApiProperty({ type: String, nullable: true, description: 'Always null: refine `q` to find other places.' })
  readonly next_cursor!: null;
  @ApiProperty({ description: 'Always false.' })
  readonly has_more!: boolean;
}

/** Query parameters that select places by words of their names or by their codes. */
class ListPlacesDto {
  @TextQueryProperty({
    description: 'Words of a name, or a code. Each word must be the beginning of a word of the name, or of the code.',
    example: 'rotter',
  })
  q?: string;

  @ListQueryProperty(checkText, MAX_PLACE_CODES, {
    description: `Places with these codes, separated by commas; at most ${MAX_PLACE_CODES}.`,
    example: ['NLRTM', 'CNSHA'],
  })
  code?: string;

  @PageLimitProperty()
  limit?: string;
}

@ApiTags('Places')
@Controller('v1/places')
export class PlacesController {
  constructor(@Inject(PLACES_INJECTION_TOKEN) private readonly places: ShipmentsHttpDependencies['places']) {}

  @Get()
  @DeclareApiOperation('listPlaces', {
    summary: 'Search ports and airports',
    description: 'Searches the places that the service knows by name. Other codes are accepted in shipments too.',
    query: ListPlacesDto,
  })
  @ApiResponse({ status: 200, description: 'The matching places.', type: PlaceListResource })
  listPlaces(@Query() { q, code, limit }: ListPlacesDto): Page<Place> {
    const data =
      code === undefined
        ? this.places.searchPlaces(q ?? '', Number(limit ?? DEFAULT_PLACES_LIMIT))
        : this.findPlacesByCode(code);
    return { data, next_cursor: null, has_more: false };
  }

  private findPlacesByCode(list: string): readonly Place[] {
    const codes = new Set(list.toUpperCase().split(','));
    return [...codes].flatMap((code) => this.places.find(code) ?? []);
  }
}
