import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Page, Place } from '@tracking/contracts';

@ApiSchema({ name: 'Place' })
export class PlaceResource implements Place {
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
export class PlaceListResource implements Page<Place> {
  @ApiProperty({ type: [PlaceResource], description: 'The best ones first, or in the order of the codes.' })
  readonly data!: PlaceResource[];
  @ApiProperty({ type: 'null', description: 'Always null: who looks for more says more.' } as object)
  readonly next_cursor!: null;
  @ApiProperty({ description: 'Always false.', enum: [false] })
  readonly has_more!: boolean;
}
