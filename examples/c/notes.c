/* A private note about each account: routes, tables and a hook, in C.
 *
 * The host has checked token, scopes and parameters before `handle` is called; ids are numbers here and decimal strings
 * in JSON. A failure becomes the answer. Nothing is freed: the instance of a route ends with the call, and the host
 * recycles those of hooks. */
#include "plugin.h"
#define PLUGIN_IMPLEMENTATION
#include "rookery.h"

#define LONGEST 2000

typedef exports_rookery_plugin_routes_request_t request_t;
typedef exports_rookery_plugin_routes_response_t response_t;
typedef rookery_plugin_types_failure_t failure_t;
typedef rookery_plugin_sql_value_t value_t;
typedef rookery_plugin_sql_rows_t rows_t;

static plugin_string_t string(const char *bytes) {
    plugin_string_t made;
    plugin_string_dup(&made, bytes);
    return made;
}

static bool is(plugin_string_t left, const char *right) {
    return left.len == strlen(right) && memcmp(left.ptr, right, left.len) == 0;
}

static bool fail(failure_t *failure, uint16_t status, const char *code, const char *message) {
    *failure = (failure_t){.status = status, .code = string(code), .message = string(message)};
    return false;
}

static value_t integer(int64_t number) {
    return (value_t){.tag = ROOKERY_PLUGIN_SQL_VALUE_INTEGER, .val.integer = number};
}

static value_t words(text_t text) {
    return (value_t){.tag = ROOKERY_PLUGIN_SQL_VALUE_TEXT, .val.text = {(uint8_t *)text.bytes, text.length}};
}

static bool query(const char *statement, value_t *values, size_t count, rows_t *rows, failure_t *failure) {
    plugin_string_t name = string(statement);
    rookery_plugin_sql_list_value_t params = {values, count};
    if (!rookery_plugin_sql_query(&name, &params, rows, failure)) return false;
    return !rows->truncated || fail(failure, 500, "notes.truncated", "There are more rows than may be read at once");
}

static void note(text_t *json, int64_t account, const uint8_t *text, size_t length) {
    text_add(json, "{\"account\":{\"$account\":\"");
    text_number(json, account);
    text_add(json, "\"},\"text\":");
    text_json(json, (const char *)text, length);
    text_add(json, "}");
}

static bool answer(response_t *response, text_t json) {
    *response = (response_t){.status = 200};
    response->output.tag = EXPORTS_ROOKERY_PLUGIN_ROUTES_OUTPUT_TEMPLATE;
    response->output.val.template_ = (plugin_string_t){(uint8_t *)json.bytes, json.length};
    return true;
}

static bool index_notes(int64_t caller, response_t *response, failure_t *failure) {
    rows_t rows;
    text_t json = TEXT;
    if (!query("notes_of", (value_t[]){integer(caller)}, 1, &rows, failure)) return false;
    text_add(&json, "[");
    for (size_t i = 0; i + 1 < rows.values.len; i += 2) {
        value_t *row = rows.values.ptr + i;
        if (i) text_add(&json, ",");
        note(&json, row[0].val.integer, row[1].val.text.ptr, row[1].val.text.len);
    }
    text_add(&json, "]");
    return answer(response, json);
}

static bool show(int64_t caller, int64_t target, response_t *response, failure_t *failure) {
    rows_t rows;
    text_t json = TEXT;
    if (!query("note", (value_t[]){integer(caller), integer(target)}, 2, &rows, failure)) return false;
    plugin_string_t text = rows.values.len ? rows.values.ptr[0].val.text : string("");
    note(&json, target, text.ptr, text.len);
    return answer(response, json);
}

/* The parameter `text` of a form or of JSON. */
static bool parameter(const request_t *request, text_t *text) {
    const exports_rookery_plugin_routes_body_t *body = &request->body;
    if (body->tag == EXPORTS_ROOKERY_PLUGIN_ROUTES_BODY_JSON) {
        return json_text((const char *)body->val.json.ptr, body->val.json.len, "text", text);
    }
    if (body->tag != EXPORTS_ROOKERY_PLUGIN_ROUTES_BODY_FORM) return false;
    for (size_t i = 0; i < body->val.form.len; i++) {
        plugin_tuple2_string_string_t *pair = body->val.form.ptr + i;
        if (!is(pair->f0, "text")) continue;
        text_bytes(text, (const char *)pair->f1.ptr, pair->f1.len);
        return true;
    }
    return false;
}

static bool exists(int64_t account, bool *found, failure_t *failure) {
    rookery_plugin_core_list_option_account_t accounts;
    rookery_plugin_core_list_id_t ids = {&account, 1};
    if (!rookery_plugin_core_accounts(&ids, &accounts, failure)) return false;
    *found = accounts.len == 1 && accounts.ptr[0].is_some;
    return true;
}

static bool update(const request_t *request, int64_t caller, int64_t target, response_t *response, failure_t *failure) {
    rows_t rows;
    bool found;
    text_t text = TEXT, json = TEXT;
    if (!parameter(request, &text)) return fail(failure, 422, "notes.missing", "text: is missing");
    if (characters(text.bytes, text.length) > LONGEST) {
        return fail(failure, 422, "notes.too-long", "text: is longer than 2000 characters");
    }
    if (!exists(target, &found, failure)) return false;
    if (!found) return fail(failure, 404, "not-found", "Record not found");
    value_t values[] = {integer(caller), integer(target), words(text)};
    if (!query("save", values, 3, &rows, failure)) return false;
    note(&json, target, (const uint8_t *)text.bytes, text.length);
    return answer(response, json);
}

static bool forget(int64_t account, int64_t target, failure_t *failure) {
    rows_t rows;
    return query("forget", (value_t[]){integer(account), integer(target)}, 2, &rows, failure);
}

bool exports_rookery_plugin_routes_handle(request_t *request, response_t *response, failure_t *failure) {
    int64_t caller = request->ctx.caller.account.val, target = 0;
    if (request->params.len) {
        plugin_string_t id = request->params.ptr[0].f1;
        if (!parse_number((const char *)id.ptr, id.len, &target)) return fail(failure, 404, "not-found", "Record not found");
    }
    if (is(request->route, "index")) return index_notes(caller, response, failure);
    if (is(request->route, "show")) return show(caller, target, response, failure);
    if (is(request->route, "update")) return update(request, caller, target, response, failure);
    if (is(request->route, "delete")) {
        *response = (response_t){.status = 200};
        return forget(caller, target, failure);
    }
    return fail(failure, 404, "not-found", "Record not found");
}

/* A number that JSON holds as a string. */
static bool member(plugin_string_t json, const char *name, int64_t *number) {
    text_t text = TEXT;
    return json_text((const char *)json.ptr, json.len, name, &text) && parse_number(text.bytes, text.length, number);
}

bool exports_rookery_plugin_events_handle(exports_rookery_plugin_events_list_event_t *batch, failure_t *failure) {
    for (size_t i = 0; i < batch->len; i++) {
        exports_rookery_plugin_events_event_t *event = batch->ptr + i;
        int64_t account, target;
        if (!is(event->kind, "account.blocked") || event->subject.tag != EXPORTS_ROOKERY_PLUGIN_EVENTS_SUBJECT_JSON) continue;
        plugin_string_t block = event->subject.val.json;
        if (!member(block, "account", &account) || !member(block, "target", &target)) continue;
        if (!forget(account, target, failure)) return false;
    }
    return true;
}
