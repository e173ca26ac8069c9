"""{{title}}.

`query` runs a statement of sql/queries.sql by its name and gives the values of all rows in one list. Ids are numbers
here and decimal strings in JSON. A raised failure becomes the answer; any other exception is logged with its traceback.
"""

import json

from rookery import failure
from wit_world import exports
from wit_world.exports.routes import Body_Form, Body_Json, Output_Json, Request, Response
from wit_world.imports import sql
from wit_world.imports.sql import Value_Integer, Value_Text


def answer(value) -> Response:
    return Response(200, [], Output_Json(json.dumps(value)), None)


def query(statement: str, *params: sql.Value) -> list[sql.Value]:
    rows = sql.query(statement, list(params))
    if rows.truncated:
        raise failure(500, "There are more rows than may be read at once")
    return rows.values


def items(values: list[sql.Value]) -> list[dict]:
    values = iter(values)
    return [{"id": str(number.value), "text": text.value} for number, text in zip(values, values)]


def parameters(request: Request) -> dict:
    """What a form or a JSON object holds."""
    body = request.body
    if isinstance(body, Body_Form):
        return dict(body.value)
    document = json.loads(body.value) if isinstance(body, Body_Json) else {}
    return document if isinstance(document, dict) else {}


def index(caller: int) -> Response:
    """GET /api/v1/{{name}}"""
    return answer(items(query("items_of", Value_Integer(caller))))


def create(caller: int, request: Request) -> Response:
    """POST /api/v1/{{name}}"""
    text = parameters(request).get("text")
    if text is None:
        raise failure(422, "text: is missing")
    if not isinstance(text, str) or not text:
        raise failure(422, "text: is empty")
    return answer(items(query("add", Value_Integer(caller), Value_Text(text)))[0])


class Routes(exports.Routes):
    def handle(self, req: Request) -> Response:
        caller = req.ctx.caller.account
        match req.route:
            case "index":
                return index(caller)
            case "create":
                return create(caller, req)
        raise failure(404, "Record not found")
