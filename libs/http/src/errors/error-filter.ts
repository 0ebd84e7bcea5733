import { Catch } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import type { ErrorBody } from '@tracking/contracts';
import { type Logger, isKnownUndone } from '@tracking/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestFields } from '../server/request.ts';
import { answerTo, errorBody } from './error-answer.ts';
import type { FailedRequest } from './error-answer.ts';
import { PROBLEM_TYPE, problemDetails, wantsProblem } from './problem-details.ts';

export interface ErrorFilterOptions {
  readonly logger: Logger;
  /** Where the codes are documented, as `https://host/docs`. */
  readonly docsUrl: string;
  /** A better error for what was thrown, where the routes know one (a path that exists under another method). */
  readonly refine?: (error: unknown, request: FastifyRequest) => unknown;
}

/** Answers every error of every route and hook in the API's error form, or as problem details where asked for. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly options: ErrorFilterOptions) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  /** Also for what Fastify refuses before any route is found. */
  answer(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const answer = answerTo(this.options.refine?.(error, request) ?? error, failed(request));
    request.isUndone = isKnownUndone(error);
    if (isGone(request)) this.options.logger.info(requestFields(request), 'a client went away amid its request');
    else if (answer.unexpected) this.log(error, request);
    if (reply.sent) return;
    const problem = wantsProblem(request.headers.accept);
    const body = problem ? problemDetails(answer, request.id, this.options.docsUrl) : errorBody(answer, request.id);
    void reply
      .code(answer.status)
      .headers(answer.headers)
      .type(problem ? PROBLEM_TYPE : 'application/json; charset=utf-8')
      .send(JSON.stringify(body));
  }

  /** What is answered for one of a request's many items. */
  ofItem(error: unknown, request: FastifyRequest): Pick<ErrorBody, 'error'> & { readonly status: number } {
    const answer = answerTo(error, failed(request));
    if (answer.unexpected) this.log(error, request);
    return { status: answer.status, ...errorBody(answer, request.id) };
  }

  /** The stack alone: a request's body and headers may hold what no log may. */
  private log(error: unknown, request: FastifyRequest): void {
    const { method, url } = request.routeOptions ?? {};
    const stack = error instanceof Error ? error.stack : String(error);
    this.options.logger.error({ ...requestFields(request), method, route: url, error: stack }, 'unexpected error');
  }
}

/** Whether the client ended the connection before all of its request was here. */
function isGone({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete;
}

/** Requests whose path could not even be read have no route. */
function failed({ method, begun, routeOptions }: FastifyRequest): FailedRequest {
  const progress = method === 'GET' || method === 'HEAD' ? 'read' : begun ? 'begun' : 'refused';
  return { progress, bodyLimit: routeOptions?.bodyLimit ?? 0 };
}
