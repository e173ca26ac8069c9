/**
 * What a plugin in TypeScript leans on beside the contract: failures, parameters and answers.
 *
 * `rookery plugin build` supplies it as `rookery`, and statements as `sql`. The contract's own interfaces are modules such
 * as `rookery:plugin/core@0.1.0`: those that the manifest asks for, and no others, are there. Ids are BigInt here and
 * decimal strings in JSON.
 */

import { emit } from 'rookery:plugin/log@0.1.0';
import type { Output, Request, Response } from 'rookery:plugin/routes@0.1.0';
import type { Failure as Payload } from 'rookery:plugin/types@0.1.0';

/** Why something was not done. Thrown out of a route it becomes the answer. */
export class Failure extends Error {
  readonly payload: Payload;

  constructor(status: number, code: string, message: string, detail?: unknown) {
    super(message);
    this.payload = { status, code, message, detail: detail === undefined ? undefined : text(detail) };
  }
}

/** Missing, or hidden from whoever asked: 404. */
export const notFound = (): Failure => new Failure(404, '', 'Record not found');

/** Understood and wrong; the message is shown to the client: 422. */
export const invalid = (message: string): Failure => new Failure(422, '', message);

/**
 * The same function, whose errors can be found: one that is no failure is logged with its stack and becomes a 500. Without
 * this the host learns of a trap and nothing else. `serve` does it for routes.
 */
export function reporting<Given extends unknown[], Back>(work: (...given: Given) => Back): (...given: Given) => Back {
  return (...given) => {
    try {
      return work(...given);
    } catch (error) {
      if (error instanceof Object && 'payload' in error) throw error;
      emit('error', error instanceof Error ? `${error}\n${error.stack}` : String(error), []);
      throw new Failure(500, '', 'Something went wrong');
    }
  };
}

/** A function for each `id` of the manifest's routes, as the contract's export: `export const routes = serve({ … })`. */
export function serve(handlers: Record<string, (request: Request) => Response>): { handle(request: Request): Response } {
  const known = new Map(Object.entries(handlers));
  return {
    handle: reporting((request) => {
      const handler = known.get(request.route);
      if (!handler) throw notFound();
      return handler(request);
    }),
  };
}

/** Whose request it is. Call it in routes with `auth = "user"` only: there is somebody. */
export function caller(request: Request): bigint {
  const { account } = request.ctx.caller;
  if (account === undefined) throw new Failure(401, '', 'This method requires an authenticated user');
  return account;
}

/** A parameter of the path, as an id. */
export function id(request: Request, name: string): bigint {
  const found = request.params.find(([known]) => known === name)?.[1] ?? '';
  if (!/^[0-9]+$/.test(found)) throw notFound();
  const number = BigInt(found);
  if (number !== BigInt.asIntN(64, number)) throw notFound();
  return number;
}

/** Parameters of query and body, a form or a JSON object. The last of the same name stands; none is `undefined`. */
export function parameters(request: Request): Partial<Record<string, unknown>> {
  const { body } = request;
  const found = Object.fromEntries(request.query);
  if (body.tag === 'form') return { ...found, ...Object.fromEntries(body.val) };
  if (body.tag !== 'json') return found;
  const parsed: unknown = JSON.parse(body.val);
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed)) {
    throw new Failure(400, '', 'the JSON body must be an object');
  }
  return { ...found, ...parsed };
}

/** JSON text of anything; BigInt becomes a decimal string. */
export function text(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? inner.toString() : inner));
}

/** An answer of the contract's: `answer({ tag: 'statuses', val: ids }, { cursor })`. */
export function answer(output: Output, more: Partial<Omit<Response, 'output'>> = {}): Response {
  return { status: 200, headers: [], ...more, output };
}

/** `{}` */
export const empty = (): Response => answer({ tag: 'empty' });

/** Answers with any value as JSON. */
export const json = (value: unknown): Response => answer({ tag: 'json', val: text(value) });

/** As `json`, with `{ $account: id }`, `{ $status: id }` and `{ $list: id }` filled in by the server. */
export const template = (value: unknown): Response => answer({ tag: 'template', val: text(value) });
