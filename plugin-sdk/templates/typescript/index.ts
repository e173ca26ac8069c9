/**
 * {{title}}.
 *
 * `rookery/sql` has the statements of sql/queries.sql, called by name. Ids are BigInt here and decimal strings in JSON.
 */

import { caller, invalid, json, parameters, serve } from 'rookery';
import { all, one } from 'rookery/sql';
import type { Request } from 'rookery:plugin/routes@0.1.0';

interface Item {
  id: bigint;
  text: string;
}

/** `GET /api/v1/{{name}}` */
function index(request: Request) {
  return json(all<Item>('items_of', caller(request)));
}

/** `POST /api/v1/{{name}}` */
function create(request: Request) {
  const { text } = parameters(request);
  if (text === undefined) throw invalid('text: is missing');
  if (typeof text !== 'string' || text === '') throw invalid('text: is empty');
  return json(one<Item>('add', caller(request), text));
}

export const routes = serve({ index, create });
