/**
 * The TypeScript SDK, in addition to the contract: failures, parameters and responses.
 *
 * `rookery plugin build` provides it as the module `rookery`, and statements as `rookery/sql`. The interfaces of the
 * contract are modules such as `rookery:plugin/core@0.1.0`; only those that the manifest asks for exist. Ids are BigInt
 * here and decimal strings in JSON.
 */

import { emit } from 'rookery:plugin/log@0.1.0';
import type { Output, Request, Response } from 'rookery:plugin/routes@0.1.0';
import type { Failure as Payload } from 'rookery:plugin/types@0.1.0';

/** An error of the contract. Thrown from a route, it becomes the response. */
export class Failure extends Error {
  readonly payload: Payload;

  constructor(status: number, code: string, message: string, detail?: unknown) {
    super(message);
    this.payload = { status, code, message, detail: detail === undefined ? undefined : text(detail) };
  }
}

/** Does not exist, or is hidden from the caller: 404. */
export const notFound = (): Failure => new Failure(404, '', 'Record not found');

/** Well-formed but not valid; the message is shown to the client: 422. */
export const invalid = (message: string): Failure => new Failure(422, '', message);

/**
 * Wraps a function so that its errors can be traced: one that is not a failure is logged with its stack trace and
 * becomes a 500. Without this, the host sees only a trap. `serve` does it for routes.
 */
export function reporting<Given extends unknown[], Back>(work: (...given: Given) => Back): (...given: Given) => Back {
  return (...given) => {
    try {
      return work(...given);
    } catch (error) {
      if (error instanceof Object && 'payload' in error) throw error;
      emit('error', error instanceof Error ? `${error}\n${places(error.stack ?? '')}` : String(error), []);
      throw new Failure(500, '', 'Something went wrong');
    }
  };
}

/** The lines of the bundle as lines of its sources: what `build.mjs` wrote to its end. */
interface Lines {
  sources: string[];
  lines: ([file: number, line: number] | 0)[];
}

/** A stack with the author's files and lines in place of the bundle's. */
function places(stack: string): string {
  const known = (globalThis as { __rookeryLines?: Lines }).__rookeryLines;
  if (!known) return stack;
  const frames = stack.split('\n').filter((frame) => frame.trim() !== '');
  return frames.map((frame) => {
    const [, name, line] = /^(.*?)@.*?:(\d+)(?::\d+)?$/.exec(frame) ?? [];
    const place = line === undefined ? 0 : known.lines[Number(line) - 1];
    return place ? `  ${known.sources[place[0]]}:${place[1]}, in ${name || 'the module'}` : `  ${frame}`;
  }).join('\n');
}

/** The export `routes`, from a function for each route `id` of the manifest: `export const routes = serve({ … })`. */
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

/** The caller's account, on routes with `auth = "user"`; 401 when nobody is signed in. */
export function caller(request: Request): bigint {
  const { account } = request.ctx.caller;
  if (account === undefined) throw new Failure(401, '', 'This method requires an authenticated user');
  return account;
}

/** A path parameter as an id; 404 when it is not one. */
export function id(request: Request, name: string): bigint {
  const found = request.params.find(([known]) => known === name)?.[1] ?? '';
  if (!/^[0-9]+$/.test(found)) throw notFound();
  const number = BigInt(found);
  if (number !== BigInt.asIntN(64, number)) throw notFound();
  return number;
}

/** Parameters of the query string and of the body, a form or a JSON object. The last of the same name wins. */
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

/** Any value as JSON text; BigInt becomes a decimal string. */
export function text(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? inner.toString() : inner));
}

/** A response of the contract: `answer({ tag: 'statuses', val: ids }, { cursor })`. */
export function answer(output: Output, more: Partial<Omit<Response, 'output'>> = {}): Response {
  return { status: 200, headers: [], ...more, output };
}

/** `{}` */
export const empty = (): Response => answer({ tag: 'empty' });

/** A response with any value as JSON. */
export const json = (value: unknown): Response => answer({ tag: 'json', val: text(value) });

/**
 * Like `json`; the server replaces `{ $account: id }`, `{ $status: id }`, `{ $list: id }` and `{ $credentials: id }` (the
 * caller's own account, as they see it) by these entities, and `{ $url: '/path' }` by the whole URL of its path.
 */
export const template = (value: unknown): Response => answer({ tag: 'template', val: text(value) });
