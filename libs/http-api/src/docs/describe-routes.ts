import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { HttpApiDependencies } from '../dependencies.ts';
import { HttpApiModule } from '../http-api.module.ts';
import type { HttpApiParts } from '../http-api.module.ts';
import { DEPRECATIONS } from '../operations/deprecations.ts';
import { describeApi } from './openapi.ts';

/** The description that a server at the URL answers, made of the routes alone: no engine is opened, no handler is made. */
export async function describeRoutes(baseUrl: string): Promise<OpenAPIObject> {
  const nothing: unknown = { identity: {}, settings: { cursorSecret: new Uint8Array(32), baseUrl } };
  const module = HttpApiModule.with(nothing as HttpApiDependencies, {} as HttpApiParts);
  const options = { preview: true, logger: false, abortOnError: false } as const;
  const app = await NestFactory.create(module, new FastifyAdapter(), options);
  return describeApi(app, baseUrl, DEPRECATIONS);
}
