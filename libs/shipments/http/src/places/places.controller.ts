import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page, Place } from '@tracking/contracts';
import { Operation } from '@tracking/http';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { PLACES } from '../dependencies.ts';
import { ListPlacesDto } from './list-places.dto.ts';
import { PlaceListResource } from './place.resource.ts';

const USUAL_LIMIT = 20;

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
    const data = code === undefined ? this.places.search(q ?? '', Number(limit ?? USUAL_LIMIT)) : this.named(code);
    return { data, next_cursor: null, has_more: false };
  }

  private named(list: string): readonly Place[] {
    const codes = new Set(list.toUpperCase().split(','));
    return [...codes].flatMap((code) => this.places.find(code) ?? []);
  }
}
