import { ApiSchema } from '@nestjs/swagger';
import type { Page, Place } from '@tracking/contracts';
import { Shown } from '@tracking/http';

@ApiSchema({ name: 'Place' })
export class PlaceResource implements Place {
  @Shown(String, 'UN/LOCODE, or IATA code of an airport.', { example: 'NLRTM' })
  readonly code!: string;
  @Shown(String, 'Its name, where that is known.', { nullable: true, example: 'Rotterdam' })
  readonly name!: string | null;
  @Shown(String, 'ISO 3166-1 alpha-2.', { example: 'NL' })
  readonly country!: string;
  @Shown(Number, 'Degrees north.', { nullable: true, example: 51.95 })
  readonly latitude!: number | null;
  @Shown(Number, 'Degrees east.', { nullable: true, example: 4.05 })
  readonly longitude!: number | null;
  @Shown(String, 'IANA time zone.', { nullable: true, example: 'Europe/Amsterdam' })
  readonly timezone!: string | null;
}

@ApiSchema({ name: 'PlaceList' })
export class PlaceListResource implements Page<Place> {
  @Shown([PlaceResource], 'The best ones first, or in the order of the codes.')
  readonly data!: PlaceResource[];
  @Shown('null' as 'object', 'Always null: who looks for more says more.')
  readonly next_cursor!: null;
  @Shown(Boolean, 'Always false.', { enum: [false] })
  readonly has_more!: boolean;
}
