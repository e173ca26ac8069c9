// A private note about each account: routes, tables and a hook, in plain JavaScript.
//
// The host has checked token, scopes and parameters before `handle` is called; ids are BigInts here and decimal strings
// in JSON. A thrown failure becomes the answer.
import { accounts } from "rookery:plugin/core@0.1.0";
import { query } from "rookery:plugin/sql@0.1.0";

const LONGEST = 2000;

const integer = (value) => ({ tag: "integer", val: BigInt(value) });
const text = (value) => ({ tag: "text", val: value });
const json = (value, tag = "json") => ({
  status: 200,
  headers: [],
  output: { tag, val: JSON.stringify(value) },
  cursor: undefined,
});
const failure = (status, code, message) => ({ status, code, message, detail: undefined });
const note = (target, words) => ({ account: { $account: String(target) }, text: words });

function index(caller) {
  const { values } = query("notes_of", [integer(caller)]);
  const notes = [];
  for (let i = 0; i < values.length; i += 2) notes.push(note(values[i].val, values[i + 1].val));
  return json(notes, "template");
}

function show(caller, target) {
  const { values } = query("note", [integer(caller), integer(target)]);
  return json(note(target, values.length ? values[0].val : ""), "template");
}

function update(caller, target, body) {
  const words = parameter(body, "text");
  if (words === undefined) throw failure(422, "notes.missing", "text: is missing");
  if ([...words].length > LONGEST) throw failure(422, "notes.too-long", `text: is longer than ${LONGEST} characters`);
  if (!accounts([BigInt(target)])[0]) throw failure(404, "not-found", "Record not found");
  query("save", [integer(caller), integer(target), text(words)]);
  return json(note(target, words), "template");
}

function forget(caller, target) {
  query("forget", [integer(caller), integer(target)]);
  return { status: 200, headers: [], output: { tag: "empty" }, cursor: undefined };
}

function parameter(body, name) {
  if (body.tag === "form") return body.val.find(([key]) => key === name)?.[1];
  if (body.tag !== "json") return undefined;
  const value = JSON.parse(body.val)?.[name];
  return value === undefined || value === null ? undefined : String(value);
}

export const routes = {
  handle(request) {
    const caller = request.ctx.caller.account;
    const target = request.params[0]?.[1];
    switch (request.route) {
      case "index":
        return index(caller);
      case "show":
        return show(caller, target);
      case "update":
        return update(caller, target, request.body);
      case "delete":
        return forget(caller, target);
      default:
        throw failure(404, "not-found", "Record not found");
    }
  },
};

export const events = {
  handle(batch) {
    for (const event of batch) {
      if (event.kind !== "account.blocked" || event.subject.tag !== "json") continue;
      const { account, target } = JSON.parse(event.subject.val);
      query("forget", [integer(account), integer(target)]);
    }
  },
};
