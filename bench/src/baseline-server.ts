import 'reflect-metadata';
import { Body, Controller, Get, Inject, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { PlaceLookup, ClientShipmentFields } from '@tracking/contracts';
import { parseShipmentFieldsOfBody } from '@tracking/shipments-http';
import { loadPlaces } from '@tracking/places';

const PLACES = Symbol('places');

/** The baseline of the measured routes: the same framework and validation, without further work. */
@Controller()
class BareController {
  constructor(@Inject(PLACES) private readonly places: PlaceLookup) {}

  @Post('/v1/shipments')
  create(@Body() body: unknown): Partial<ClientShipmentFields> {
    return parseShipmentFieldsOfBody({ body, strict: false }, this.places).fields;
  }

  @Get('/ready')
  ready(): { status: string } {
    return { status: 'ready' };
  }
}

const places = await loadPlaces();

@Module({ controllers: [BareController], providers: [{ provide: PLACES, useValue: places }] })
class BareModule {}

const app = await NestFactory.create<NestFastifyApplication>(BareModule, new FastifyAdapter(), { logger: ['error'] });
process.once('SIGTERM', () => void app.close().then(() => process.exit(0)));
await app.listen(Number(process.env['PORT']), '127.0.0.1');
