/**
 * The statements of `sql/queries.sql`, called by name, with plain values: integers are BigInt, reals are numbers.
 *
 * The module `rookery/sql`, for plugins with `[sql]` in their manifest. Failures of the database are thrown; from a
 * route, they become the response.
 */

import { query } from 'rookery:plugin/sql@0.1.0';
import type { Rows, Value } from 'rookery:plugin/sql@0.1.0';

import { notFound } from './rookery';

/** A value of a parameter or column. */
export type Scalar = null | boolean | bigint | number | string | Uint8Array;

/**
 * All rows, as objects with a member for each column. The type `Row` is not checked. Throws when there are more rows
 * than may be read at once: a part must not pass for all of them.
 */
export function all<Row = Record<string, Scalar>>(statement: string, ...params: Scalar[]): Row[] {
  const { columns, values, truncated } = run(statement, params);
  if (truncated) throw new Error(`${statement} has more rows than may be read at once: give it a LIMIT`);
  const rows: Record<string, Scalar>[] = [];
  for (let at = 0; at < values.length; at += columns.length) {
    rows.push(Object.fromEntries(columns.map((column, index) => [column, plain(values[at + index])])));
  }
  return rows as Row[];
}

/** The first row, or `undefined`. */
export function optional<Row = Record<string, Scalar>>(statement: string, ...params: Scalar[]): Row | undefined {
  return all<Row>(statement, ...params)[0];
}

/** The first row; 404 when there is none. */
export function one<Row = Record<string, Scalar>>(statement: string, ...params: Scalar[]): Row {
  const row = optional<Row>(statement, ...params);
  if (row === undefined) throw notFound();
  return row;
}

/** Runs a statement that returns no rows; returns how many it changed. */
export function exec(statement: string, ...params: Scalar[]): bigint {
  return run(statement, params).affected;
}

function run(statement: string, params: Scalar[]): Rows {
  return query(statement, params.map(value));
}

function plain(value: Value): Scalar {
  return value.tag === 'null' ? null : value.val;
}

function value(scalar: Scalar): Value {
  if (scalar === null) return { tag: 'null' };
  switch (typeof scalar) {
    case 'boolean':
      return { tag: 'boolean', val: scalar };
    case 'bigint':
      return { tag: 'integer', val: scalar };
    case 'number':
      return { tag: 'real', val: scalar };
    case 'string':
      return { tag: 'text', val: scalar };
    default:
      return { tag: 'blob', val: scalar };
  }
}
