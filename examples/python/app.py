"""A private note about each account: routes, tables and a hook, in plain Python.

The host has checked token, scopes and parameters before `handle` is called; ids are numbers here and decimal strings in
JSON. A raised failure becomes the answer; any other exception is logged with its traceback.
"""

import json

from rookery import failure
from wit_world import exports
from wit_world.exports.events import Event, Subject_Json
from wit_world.exports.routes import Body_Form, Body_Json, Output, Output_Empty, Output_Template, Request, Response
from wit_world.imports import core, sql
from wit_world.imports.sql import Value_Integer, Value_Text

LONGEST = 2000


def answer(output: Output) -> Response:
    return Response(200, [], output, None)


def note(target: int, text: str) -> dict:
    return {"account": {"$account": str(target)}, "text": text}


def template(value) -> Response:
    return answer(Output_Template(json.dumps(value)))


def query(statement: str, *params: sql.Value) -> list[sql.Value]:
    rows = sql.query(statement, list(params))
    if rows.truncated:
        raise failure(500, "There are more rows than may be read at once", "notes.truncated")
    return rows.values


def index(caller: int) -> Response:
    values = iter(query("notes_of", Value_Integer(caller)))
    return template([note(target.value, text.value) for target, text in zip(values, values)])


def show(caller: int, target: int) -> Response:
    values = query("note", Value_Integer(caller), Value_Integer(target))
    return template(note(target, values[0].value if values else ""))


def update(caller: int, target: int, text: str | None) -> Response:
    if text is None:
        raise failure(422, "text: is missing", "notes.missing")
    if len(text) > LONGEST:
        raise failure(422, f"text: is longer than {LONGEST} characters", "notes.too-long")
    if core.accounts([target])[0] is None:
        raise failure(404, "Record not found", "not-found")
    query("save", Value_Integer(caller), Value_Integer(target), Value_Text(text))
    return template(note(target, text))


def forget(account: int, target: int) -> None:
    query("forget", Value_Integer(account), Value_Integer(target))


def parameter(request: Request, name: str) -> str | None:
    body = request.body
    if isinstance(body, Body_Form):
        return dict(body.value).get(name)
    if isinstance(body, Body_Json):
        document = json.loads(body.value)
        value = document.get(name) if isinstance(document, dict) else None
        return None if value is None else str(value)
    return None


class Routes(exports.Routes):
    def handle(self, req: Request) -> Response:
        caller = req.ctx.caller.account
        target = int(req.params[0][1]) if req.params else 0
        match req.route:
            case "index":
                return index(caller)
            case "show":
                return show(caller, target)
            case "update":
                return update(caller, target, parameter(req, "text"))
            case "delete":
                forget(caller, target)
                return answer(Output_Empty())
        raise failure(404, "Record not found", "not-found")


class Events(exports.Events):
    def handle(self, batch: list[Event]) -> None:
        for event in batch:
            if event.kind == "account.blocked" and isinstance(event.subject, Subject_Json):
                block = json.loads(event.subject.value)
                forget(int(block["account"]), int(block["target"]))
