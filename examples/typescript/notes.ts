/**
 * A private note about each account: routes, tables and a hook, in TypeScript.
 *
 * The host has checked token, scopes and parameters before a route is called; ids are BigInt here and decimal strings in
 * JSON. A thrown failure becomes the answer.
 */

import { caller, empty, Failure, id, notFound, parameters, reporting, serve, template } from 'rookery';
import { all, exec, optional } from 'rookery/sql';
import { accounts } from 'rookery:plugin/core@0.1.0';
import type { Event } from 'rookery:plugin/events@0.1.0';
import type { Request } from 'rookery:plugin/routes@0.1.0';

/** Longest note, in characters. */
const LONGEST = 2000;

const note = (target: bigint, text: string) => ({ account: { $account: target }, text });

function index(request: Request) {
  const notes = all<{ target_id: bigint; text: string }>('notes_of', caller(request));
  return template(notes.map(({ target_id, text }) => note(target_id, text)));
}

function show(request: Request) {
  const target = id(request, 'account');
  const found = optional<{ text: string }>('note', caller(request), target);
  return template(note(target, found?.text ?? ''));
}

function update(request: Request) {
  const target = id(request, 'account');
  const given = parameters(request).text ?? null;
  if (given === null) throw new Failure(422, 'notes.missing', 'text: is missing');
  const text = String(given);
  if ([...text].length > LONGEST) {
    throw new Failure(422, 'notes.too-long', `text: is longer than ${LONGEST} characters`);
  }
  if (!accounts(BigInt64Array.of(target))[0]) throw notFound();
  exec('save', caller(request), target, text);
  return template(note(target, text));
}

function remove(request: Request) {
  exec('forget', caller(request), id(request, 'account'));
  return empty();
}

export const routes = serve({ index, show, update, delete: remove });

/** A block deletes the notes about the blocked account. */
function blocked(batch: Event[]) {
  for (const { kind, subject } of batch) {
    if (kind !== 'account.blocked' || subject.tag !== 'json') continue;
    const block: { account: string; target: string } = JSON.parse(subject.val);
    exec('forget', BigInt(block.account), BigInt(block.target));
  }
}

export const events = { handle: reporting(blocked) };
