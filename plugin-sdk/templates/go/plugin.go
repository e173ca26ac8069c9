// Package plugin is {{title}}.
//
// query runs a statement of sql/queries.sql by its name and gives the values of all rows in one slice. Ids are numbers
// here and decimal strings in JSON. A failure becomes the answer.
package plugin

import (
	"encoding/json"
	"strconv"

	wit "go.bytecodealliance.org/pkg/wit/types"

	"wit_component/rookery_plugin_routes"
	"wit_component/rookery_plugin_sql"
	"wit_component/rookery_plugin_types"
)

type (
	request  = rookery_plugin_routes.Request
	response = rookery_plugin_routes.Response
	failure  = rookery_plugin_types.Failure
	answer   = wit.Result[response, failure]
	rows     = wit.Result[rookery_plugin_sql.Rows, failure]
)

type item struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// HandleRoutes answers a request.
func HandleRoutes(req request) answer {
	caller := req.Ctx.Caller.Account.SomeOr(0)
	switch req.Route {
	case "index":
		return index(caller)
	case "create":
		return create(caller, req.Body)
	}
	return fail(404, "Record not found")
}

// GET /api/v1/{{name}}
func index(caller int64) answer {
	found := query("items_of", rookery_plugin_sql.MakeValueInteger(caller))
	if found.IsErr() {
		return wit.Err[response, failure](found.Err())
	}
	return respond(items(found.Ok()))
}

// POST /api/v1/{{name}}
func create(caller int64, body rookery_plugin_routes.Body) answer {
	text, given := parameter(body, "text")
	if !given {
		return fail(422, "text: is missing")
	}
	if text == "" {
		return fail(422, "text: is empty")
	}
	made := query("add", rookery_plugin_sql.MakeValueInteger(caller), rookery_plugin_sql.MakeValueText(text))
	if made.IsErr() {
		return wit.Err[response, failure](made.Err())
	}
	return respond(items(made.Ok())[0])
}

func query(statement string, params ...rookery_plugin_sql.Value) rows {
	found := rookery_plugin_sql.Query(statement, params)
	if !found.IsErr() && found.Ok().Truncated {
		cut := failure{Status: 500, Message: "There are more rows than may be read at once"}
		return wit.Err[rookery_plugin_sql.Rows, failure](cut)
	}
	return found
}

func items(rows rookery_plugin_sql.Rows) []item {
	made := make([]item, 0, len(rows.Values)/2)
	for i := 0; i+1 < len(rows.Values); i += 2 {
		made = append(made, item{strconv.FormatInt(rows.Values[i].Integer(), 10), rows.Values[i+1].Text()})
	}
	return made
}

func respond(value any) answer {
	text, err := json.Marshal(value)
	if err != nil {
		return fail(500, err.Error())
	}
	return wit.Ok[response, failure](response{Status: 200, Output: rookery_plugin_routes.MakeOutputJson(string(text))})
}

func fail(status uint16, message string) answer {
	return wit.Err[response, failure](failure{Status: status, Message: message})
}

// A text of a form or of a JSON object.
func parameter(body rookery_plugin_routes.Body, name string) (string, bool) {
	switch body.Tag() {
	case rookery_plugin_routes.BodyForm:
		for _, pair := range body.Form() {
			if pair.F0 == name {
				return pair.F1, true
			}
		}
	case rookery_plugin_routes.BodyJson:
		var document map[string]any
		if json.Unmarshal([]byte(body.Json()), &document) == nil {
			text, given := document[name].(string)
			return text, given
		}
	}
	return "", false
}
