// Package plugin is a private note about each account: routes, tables and a hook, in Go.
//
// The host has checked token, scopes and parameters before HandleRoutes is called; ids are numbers here and decimal
// strings in JSON. A failure becomes the answer.
package plugin

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	wit "go.bytecodealliance.org/pkg/wit/types"

	"wit_component/rookery_plugin_core"
	"wit_component/rookery_plugin_events"
	"wit_component/rookery_plugin_routes"
	"wit_component/rookery_plugin_sql"
	"wit_component/rookery_plugin_types"
)

const longest = 2000

type (
	request  = rookery_plugin_routes.Request
	response = rookery_plugin_routes.Response
	failure  = rookery_plugin_types.Failure
	answer   = wit.Result[response, failure]
	done     = wit.Result[wit.Unit, failure]
)

type hole struct {
	Account string `json:"$account"`
}

type note struct {
	Account hole   `json:"account"`
	Text    string `json:"text"`
}

func noteOf(target int64, text string) note {
	return note{hole{strconv.FormatInt(target, 10)}, text}
}

// HandleRoutes answers a request.
func HandleRoutes(req request) answer {
	caller := req.Ctx.Caller.Account.SomeOr(0)
	var target int64
	if len(req.Params) > 0 {
		target, _ = strconv.ParseInt(req.Params[0].F1, 10, 64)
	}
	switch req.Route {
	case "index":
		return index(caller)
	case "show":
		return show(caller, target)
	case "update":
		return update(caller, target, req.Body)
	case "delete":
		return remove(caller, target)
	}
	return fail(404, "not-found", "Record not found")
}

// HandleEvents drops the notes about those who were blocked.
func HandleEvents(batch []rookery_plugin_events.Event) done {
	for _, event := range batch {
		if event.Kind != "account.blocked" || event.Subject.Tag() != rookery_plugin_events.SubjectJson {
			continue
		}
		var block struct {
			Account int64 `json:"account,string"`
			Target  int64 `json:"target,string"`
		}
		if json.Unmarshal([]byte(event.Subject.Json()), &block) != nil {
			continue
		}
		if forgotten := query("forget", integer(block.Account), integer(block.Target)); forgotten.IsErr() {
			return wit.Err[wit.Unit, failure](forgotten.Err())
		}
	}
	return wit.Ok[wit.Unit, failure](wit.Unit{})
}

func index(caller int64) answer {
	rows := query("notes_of", integer(caller))
	if rows.IsErr() {
		return wit.Err[response, failure](rows.Err())
	}
	values := rows.Ok().Values
	notes := make([]note, 0, len(values)/2)
	for i := 0; i+1 < len(values); i += 2 {
		notes = append(notes, noteOf(values[i].Integer(), values[i+1].Text()))
	}
	return template(notes)
}

func show(caller, target int64) answer {
	rows := query("note", integer(caller), integer(target))
	if rows.IsErr() {
		return wit.Err[response, failure](rows.Err())
	}
	text := ""
	if values := rows.Ok().Values; len(values) > 0 {
		text = values[0].Text()
	}
	return template(noteOf(target, text))
}

func update(caller, target int64, body rookery_plugin_routes.Body) answer {
	text, given := parameter(body, "text")
	if !given {
		return fail(422, "notes.missing", "text: is missing")
	}
	if utf8.RuneCountInString(text) > longest {
		return fail(422, "notes.too-long", fmt.Sprintf("text: is longer than %d characters", longest))
	}
	accounts := rookery_plugin_core.Accounts([]int64{target})
	if accounts.IsErr() {
		return wit.Err[response, failure](accounts.Err())
	}
	if !accounts.Ok()[0].IsSome() {
		return fail(404, "not-found", "Record not found")
	}
	saved := query("save", integer(caller), integer(target), rookery_plugin_sql.MakeValueText(text))
	if saved.IsErr() {
		return wit.Err[response, failure](saved.Err())
	}
	return template(noteOf(target, text))
}

func remove(caller, target int64) answer {
	if forgotten := query("forget", integer(caller), integer(target)); forgotten.IsErr() {
		return wit.Err[response, failure](forgotten.Err())
	}
	return respond(rookery_plugin_routes.MakeOutputEmpty())
}

func query(statement string, params ...rookery_plugin_sql.Value) wit.Result[rookery_plugin_sql.Rows, failure] {
	rows := rookery_plugin_sql.Query(statement, params)
	if !rows.IsErr() && rows.Ok().Truncated {
		cut := failure{Status: 500, Code: "notes.truncated", Message: "There are more rows than may be read at once"}
		return wit.Err[rookery_plugin_sql.Rows, failure](cut)
	}
	return rows
}

func integer(value int64) rookery_plugin_sql.Value { return rookery_plugin_sql.MakeValueInteger(value) }

func respond(output rookery_plugin_routes.Output) answer {
	return wit.Ok[response, failure](response{Status: 200, Output: output})
}

func template(value any) answer {
	text, err := json.Marshal(value)
	if err != nil {
		return fail(500, "notes.json", err.Error())
	}
	return respond(rookery_plugin_routes.MakeOutputTemplate(string(text)))
}

func fail(status uint16, code, message string) answer {
	return wit.Err[response, failure](failure{Status: status, Code: code, Message: message})
}

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
		if json.Unmarshal([]byte(body.Json()), &document) == nil && document[name] != nil {
			return fmt.Sprint(document[name]), true
		}
	}
	return "", false
}
